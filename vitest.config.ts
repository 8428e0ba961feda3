import { defineConfig } from "vitest/config";

const source = "andante-source";

export default defineConfig({
  ssr: { resolve: { conditions: [source, "node", "import", "default"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "examples/*/src/**/*.test.ts", "test/**/*.test.ts"],
    typecheck: { enabled: true, include: ["packages/*/src/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
    // Processes, not threads: tests start servers, database threads and child processes of their own.
    pool: "forks",
    execArgv: [`--conditions=${source}`],
    reporters: ["default", "./scripts/count-reporter.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
