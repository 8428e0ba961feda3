import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts"],
  format: "esm",
  platform: "node",
  target: "node22.13",
  // The template next to the built program.
  copy: [{ from: "template", to: "dist" }],
  fixedExtension: false,
});
