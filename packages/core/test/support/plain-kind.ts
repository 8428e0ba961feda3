// A kind of executions for tests that only hand it on.
import type { EngineKind } from "../../src/execution/engine/engine-kind.ts";

function unused(): never {
  throw new Error("this kind runs nothing");
}

export const plainKind: EngineKind = {
  name: "workflow",
  noun: "execution",
  takesSlot: true,
  hasSpans: false,
  isAddressable: false,
  settlesAsleep: false,
  keptFor: undefined,
  claimable: undefined,
  park: undefined,
  expire: undefined,
  store: { commit: unused, release: unused, events: unused },
  definition: unused,
  fits: () => true,
  publish: () => undefined,
  endCrashLoop: unused,
  recovered: () => undefined,
  released: () => undefined,
};
