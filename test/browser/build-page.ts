// Builds a page of the tests with Vite, in memory.
import path from "node:path";
import react from "@vitejs/plugin-react";
import { build, defaultClientConditions } from "vite";

export interface PageFile {
  readonly content: string;
  readonly contentType: string;
}

const contentTypes: Record<string, string> = { ".html": "text/html", ".js": "text/javascript" };

/** The files of the page in a folder beside this file, by their path below `base`. */
export async function buildPage(base: string, folder = "chat-page"): Promise<ReadonlyMap<string, PageFile>> {
  const built = await build({
    root: path.join(import.meta.dirname, folder),
    base,
    configFile: false,
    logLevel: "error",
    plugins: [react()],
    resolve: { conditions: ["andante-source", ...defaultClientConditions] },
    // The entry waits for the earlier messages.
    build: { write: false, target: "es2022" },
  });
  const files = new Map<string, PageFile>();
  for (const { output } of [built].flat().filter((each) => "output" in each)) {
    for (const file of output) {
      const content = file.type === "chunk" ? file.code : file.source;
      const contentType = contentTypes[path.extname(file.fileName)];
      if (typeof content !== "string" || contentType === undefined) continue;
      files.set(file.fileName, { content, contentType });
    }
  }
  return files;
}
