// Builds the console to static files with relative addresses: it works under any path prefix.
import react from "@vitejs/plugin-react";
import { defaultClientConditions, defineConfig } from "vite";

export default defineConfig({
  base: "./",
  plugins: [react()],
  // The client from its sources, which are not built first.
  resolve: { conditions: ["andante-source", ...defaultClientConditions] },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    // The form library imports it only for tests; it compiles schemas with `new Function`, which the policy forbids.
    rolldownOptions: { external: ["@rjsf/validator-ajv8"] },
  },
});
