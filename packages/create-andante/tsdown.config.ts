import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts"],
  format: "esm",
  platform: "node",
  target: "node22.13",
  // The files that are written, beside the program that writes them.
  copy: [{ from: "template", to: "dist" }],
  fixedExtension: false,
});
