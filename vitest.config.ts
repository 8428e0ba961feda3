import { defineConfig } from "vitest/config";

export default defineConfig({
  ssr: { resolve: { conditions: ["andante-source", "node", "import", "default"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "examples/*/**/*.test.ts", "test/**/*.test.ts"],
    typecheck: { enabled: true, include: ["packages/*/src/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
    pool: "forks",
    execArgv: ["--conditions=andante-source"],
    testTimeout: 30_000,
  },
});
