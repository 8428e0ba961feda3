import { defineConfig } from "tsdown";

export default defineConfig({
  entry: { index: "src/index.ts", examples: "src/openapi/example-call.ts" },
  format: "esm",
  platform: "node",
  target: "node22.13",
  dts: true,
  // All that an import of the package loads is in one file.
  outputOptions: { codeSplitting: { groups: [{ name: "andante", test: /src[\\/]index\.ts$/ }] } },
  // The interactive page's assets, so that users of this package need not install theirs.
  copy: ["swagger-ui.css", "swagger-ui-bundle.js", "LICENSE", "NOTICE"].map((file) => ({
    from: `../../node_modules/swagger-ui-dist/${file}`,
    to: "dist/swagger-ui",
  })),
  fixedExtension: false,
});
