// The public surface of @andante/core/test: tools for tests of workflows and agents.
import "../require-node.ts";

export type { Clock } from "../values/clock.ts";
export {
  type CrashTestEnding,
  type CrashTestOptions,
  type CrashTestReport,
  type CrashTestRun,
  crashTest,
} from "./crash-test.ts";
export type { ResumeWaitingStep, WaitingStep } from "./crash-test-life.ts";
export { type Crash, CrashedError, type CrashingStore, crashingStore } from "./crashing-store.ts";
export { type RecordedLine, RecordingLogger } from "./recording-logger.ts";
export {
  ScriptEndedError,
  type ScriptedModel,
  type ScriptedReply,
  type ScriptedToolCall,
  type ScriptedTurn,
  scriptedModel,
} from "./scripted-model.ts";
export { TestClock, type TestClockOptions } from "./test-clock.ts";
