import { defineConfig } from "tsdown";

// One output file per source file: the threads and the migrations are found beside the code that uses them.
export default defineConfig({
  entry: [
    "src/index.ts",
    "src/errors/index.ts",
    "src/internal.ts",
    "src/store/index.ts",
    "src/store-cases/index.ts",
    "src/test-kit/index.ts",
    "src/store/sqlite/thread.ts",
    "src/agent/schema/schema-thread.ts",
  ],
  unbundle: true,
  format: "esm",
  platform: "node",
  target: "node22.13",
  dts: true,
  fixedExtension: false,
  copy: [{ from: "src/store/sqlite/migrations", to: "dist/store/sqlite" }],
});
