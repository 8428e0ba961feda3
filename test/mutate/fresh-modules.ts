// Each test file gets our modules anew, as in a process of its own; those of node_modules are loaded once.
import { beforeEach, inject, vi } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Stryker's phase: its first run of all tests, without a fault, or one fault. */
    readonly mode: "dry-run" | "mutant";
    /** The number of that fault. */
    readonly activeMutant: string | undefined;
  }
}

declare global {
  /** The fault that a test of this process has noticed. */
  var noticedFault: string | undefined;
}

vi.resetModules();

const isTrial = inject("mode") === "mutant";
// A fault that makes a test wait costs this; a busy machine needs more. The first run has time: it only has to pass.
const patience = isTrial ? Number(process.env.ANDANTE_MUTATE_TIMEOUT ?? 5000) : 200_000;
// Tests that report a missing event do so before their time is over, also those that wait for several in turn.
const testTimeout = 2.5 * patience;
process.env.ANDANTE_TEST_PATIENCE = String(patience);
if (isTrial) process.env.ANDANTE_PROPERTIES_LIMIT = String(20 * patience);
const limits = {
  testTimeout,
  hookTimeout: testTimeout,
  expect: { poll: { interval: 5, timeout: patience } },
};
// One test of thousands that a busy machine holds up would end the first run, and with it everything.
vi.setConfig(isTrial ? limits : { ...limits, ...{ retry: 3 } });

// Database threads and processes that a test starts inherit the fault.
delete process.env.__STRYKER_ACTIVE_MUTANT__;
if (isTrial) {
  const fault = inject("activeMutant");
  process.env.__STRYKER_ACTIVE_MUTANT__ = fault;
  // The first failure ends a trial, but the files that are left would still be loaded, which takes longer than all the rest.
  if (fault !== undefined && globalThis.noticedFault === fault)
    throw new Error("the fault was noticed before");
  beforeEach(({ onTestFailed }) =>
    onTestFailed(() => {
      globalThis.noticedFault = fault;
    }),
  );
}
