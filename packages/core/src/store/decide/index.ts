// The decisions about one execution, without I/O: every store reads facts and applies changes.
import { cancel } from "./cancel.ts";
import { adopt, park, release, wake } from "./claims.ts";
import { commit } from "./commit.ts";
import { endHandled } from "./links.ts";
import { pause } from "./pause.ts";
import { resume } from "./resume.ts";

export { isAbandoned, takeOver } from "./abandoned.ts";
export { beforeTurn, endOfWait, isForeign, type TurnFacts } from "./begin-turn.ts";
export type { Changes, Outcome } from "./changes.ts";
export { endTime, resultOf } from "./commit.ts";
export type { Decision } from "./decision.ts";
export { type FactRequests, type Facts, lookback, type RecordedWrite } from "./facts.ts";
export { withChildren } from "./links.ts";
export { isPlain } from "./plain-commit.ts";
export { type ExecutionRecord, newRecord } from "./record.ts";
export { writeKey } from "./recorded-commit.ts";
export { decideSchedule } from "./schedule.ts";
export {
  conflictsIn,
  deliverWork,
  dueTimeOf,
  isSameSignal,
  isUnmatched,
  lookWork,
  noEffects,
  noteWork,
  readEffects,
  readWork,
  type SignalEffects,
  sendWork,
  settledSignal,
  workText,
} from "./signal.ts";

export const decisions = { commit, resume, pause, cancel, wake, release, park, adopt, endHandled };
