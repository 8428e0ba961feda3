// The public surface of @andante/core/test: what helps to test workflows and agents.
import "../require-node.ts";

export {
  type CrashTestEnding,
  type CrashTestOptions,
  type CrashTestReport,
  type CrashTestRun,
  crashTest,
} from "./crash-test.ts";
export type { Answerer, WaitingStep } from "./crash-test-life.ts";
export { type Crash, CrashedError, type CrashingStore, crashingStore } from "./crashing-store.ts";
export {
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedToolCall,
  type ScriptedTurn,
  ScriptUsedUpError,
  scriptedModel,
} from "./scripted-model.ts";
export { TestClock, type TestClockOptions } from "./test-clock.ts";
