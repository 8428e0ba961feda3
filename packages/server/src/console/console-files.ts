// The console's static files, read on the first request for one: a start reads none of them.
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipped } from "../response/zlib.ts";

export interface ConsoleFile {
  readonly content: Uint8Array<ArrayBuffer>;
  /** The content, compressed; undefined where compression saves nothing. */
  readonly gzipped: Uint8Array<ArrayBuffer> | undefined;
  readonly type: string;
  /** Its name contains a hash of its content, so it never changes. */
  readonly immutable: boolean;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".json": "application/json",
};

/** Fonts are compressed already. */
const compressible = new Set([".html", ".js", ".css", ".svg", ".json"]);

export class ConsoleFiles {
  readonly #folder: string;
  #names: ReadonlySet<string> | undefined;
  readonly #files = new Map<string, Promise<ConsoleFile>>();

  constructor(folder: string = builtConsole()) {
    this.#folder = folder;
  }

  /** The file at a path inside the folder; undefined when it does not exist. */
  async read(name: string): Promise<ConsoleFile | undefined> {
    this.#names ??= namesIn(this.#folder);
    // Only listed files are read: a name cannot lead out of the folder.
    if (!this.#names.has(name)) return undefined;
    const file = this.#files.get(name) ?? this.#load(name);
    this.#files.set(name, file);
    return file;
  }

  async #load(name: string): Promise<ConsoleFile> {
    const extension = path.extname(name);
    const content = new Uint8Array(await readFile(path.join(this.#folder, name)));
    const smaller = compressible.has(extension) ? new Uint8Array(await gzipped(content)) : undefined;
    return {
      content,
      gzipped: smaller,
      type: types[extension] ?? "application/octet-stream",
      immutable: name.startsWith("assets/"),
    };
  }
}

/** The paths of its fonts below the console's root; none when it was not built. */
export function consoleFonts(folder: string = builtConsole()): readonly string[] {
  return [...namesIn(folder)].filter((name) => name.endsWith(".woff2"));
}

/** The folder of the built files in the package @andante/console. */
function builtConsole(): string {
  return fileURLToPath(new URL("dist/", import.meta.resolve("@andante/console/package.json")));
}

/** The names of all files, with `/` between folders; none when the console was not built. */
function namesIn(folder: string): ReadonlySet<string> {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const names = files.map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)));
    return new Set(names.map((name) => name.replaceAll(path.sep, "/")));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return new Set();
    throw error;
  }
}
