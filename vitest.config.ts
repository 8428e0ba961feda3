import { defineConfig } from "vitest/config";
import { hasChromium } from "./test/browser/find-chromium.ts";

const source = "andante-source";

// On Linux x64 an npm package brings the browser; elsewhere the pages are tested where one is installed.
const withoutBrowser = hasChromium ? [] : ["test/browser/**"];
if (!hasChromium) process.stderr.write("No Chromium here: the tests in test/browser are left out\n");

export default defineConfig({
  ssr: { resolve: { conditions: [source, "node", "import", "default"] } },
  test: {
    include: ["packages/*/{src,test}/**/*.test.ts", "examples/*/src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...withoutBrowser],
    typecheck: { enabled: true, include: ["packages/*/src/**/*.test-d.ts"], tsconfig: "./tsconfig.json" },
    // Processes, not threads: tests start servers, database threads and child processes of their own.
    pool: "forks",
    execArgv: [`--conditions=${source}`],
    reporters: ["default", "./scripts/count-reporter.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
