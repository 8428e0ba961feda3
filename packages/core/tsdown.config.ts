import { defineConfig, type Rolldown } from "tsdown";

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

// One character beyond Latin-1, be it in a comment, and V8 keeps the whole text of a file with two bytes for each: twice
// the memory for as long as the process lives.
const plainCharacters: Rolldown.Plugin = {
  name: "plain-characters",
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== "chunk" || !file.fileName.endsWith(".js")) continue;
      file.code = file.code.replace(/[^\0-\x7f]/g, escaped);
    }
  },
};

// Few files, all in one folder: loading some three hundred small ones took a sixth of a start. Beside the public entries
// stand what is found by its path (the database thread with the migrations) and the check that has to run first.
export default defineConfig({
  entry: {
    index: "src/index.ts",
    errors: "src/errors/index.ts",
    internal: "src/internal.ts",
    examples: "src/schema-example/example-value.ts",
    mcp: "src/agent/mcp/index.ts",
    store: "src/store/index.ts",
    "store-cases": "src/store-cases/index.ts",
    test: "src/test-kit/index.ts",
    thread: "src/store/sqlite/thread.ts",
    "schema-thread": "src/agent/schema/schema-thread.ts",
    "require-node": "src/require-node.ts",
  },
  format: "esm",
  platform: "node",
  target: "node22.13",
  dts: true,
  fixedExtension: false,
  plugins: [plainCharacters],
  copy: [{ from: "src/store/sqlite/migrations", to: "dist" }],
});
