import { defineConfig, type Rolldown, type UserConfig } from "tsdown";

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

const shared: UserConfig = {
  format: "esm",
  platform: "node",
  target: "node22.13",
  fixedExtension: false,
  plugins: [plainCharacters],
};

// Few files, all in one folder: loading some three hundred small ones took a sixth of a start. All that an import of the
// package loads is in one of them, except for the check that has to run first, and all that the first reply loads in
// another.
const entries = defineConfig({
  ...shared,
  entry: {
    index: "src/index.ts",
    errors: "src/errors/index.ts",
    internal: "src/internal.ts",
    examples: "src/schema-example/example-value.ts",
    mcp: "src/agent/mcp/index.ts",
    store: "src/store/index.ts",
    "store-cases": "src/store-cases/index.ts",
    test: "src/test-kit/index.ts",
    "require-node": "src/require-node.ts",
  },
  dts: true,
  outputOptions: {
    codeSplitting: {
      groups: [
        { name: "check", test: /src[\\/]require-node\.ts$/, priority: 2 },
        { name: "andante", test: /src[\\/](index|internal|errors[\\/]index)\.ts$/, priority: 1 },
        { name: "agents", test: /src[\\/]agent[\\/](turn[\\/]replies|call[\\/]call-model)\.ts$/ },
      ],
    },
  },
  copy: [{ from: "src/store/sqlite/migrations", to: "dist" }],
});

// The threads are found by their path and share no code with the entries above, so that each is one file.
const threads = ["src/store/sqlite/thread.ts", "src/agent/schema/schema-thread.ts"].map((file) =>
  defineConfig({ ...shared, entry: file, clean: false, dts: false }),
);

export default [entries, ...threads];
