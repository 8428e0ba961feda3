// Each test file gets our modules anew, as in a process of its own; those of node_modules are loaded once.
import { inject, vi } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** What Stryker is about: its first run of all tests, without a fault, or one fault. */
    readonly mode: "dry-run" | "mutant";
  }
}

vi.resetModules();

// A fault that makes a test wait costs this; a busy machine needs more. The first run has time: it only has to pass.
if (inject("mode") === "mutant") {
  const testTimeout = Number(process.env.ANDANTE_MUTATE_TIMEOUT ?? 5000);
  vi.setConfig({ testTimeout, hookTimeout: testTimeout });
}
