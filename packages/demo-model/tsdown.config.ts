import { defineConfig } from "tsdown";

export default defineConfig({
  entry: ["src/index.ts"],
  unbundle: true,
  format: "esm",
  platform: "node",
  target: "node22.13",
  dts: true,
  fixedExtension: false,
});
