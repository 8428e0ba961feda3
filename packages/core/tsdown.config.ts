import { defineConfig } from "tsdown";

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
  copy: [{ from: "src/store/sqlite/migrations", to: "dist" }],
});
