// The size of the client in a page: its root with all imports, minified and gzipped.
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { expect, test } from "vitest";

test("the root has at most 9 KB, and nothing that only Node has", async () => {
  const entry = fileURLToPath(import.meta.resolve("@andante/client"));
  const built = await build({
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["andante-source"] },
    build: {
      write: false,
      minify: true,
      // Not "es": Vite keeps the white space of modules.
      lib: { entry, name: "andante", formats: ["iife"] },
    },
  });
  const chunks = [built].flat().flatMap((each) => ("output" in each ? each.output : []));
  const code = chunks.map((chunk) => (chunk.type === "chunk" ? chunk.code : "")).join("");
  expect(code).toContain("AndanteApiError");
  expect(code).not.toMatch(/\bimport\b.*\bfrom\b/);
  expect(code).not.toMatch(/\b(process|Buffer|require|global)\b|node:/);
  const { length } = gzipSync(code);
  expect(length).toBeLessThanOrEqual(9 * 1024);
  // Enough of it is there to be the whole.
  expect(length).toBeGreaterThan(4 * 1024);
});
