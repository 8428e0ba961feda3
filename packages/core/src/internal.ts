// Internal: for the other packages and the tests of this repository. Not covered by semantic versioning.
import "./require-node.ts";

export type { AnyAgent } from "./agent/call/any-agent.ts";
export { type CallSettings, reasoningLevels, settingRanges } from "./agent/call/call-settings.ts";
export { isNoted } from "./agent/call/note-failure.ts";
export { maxInstructions } from "./agent/call/playground.ts";
export { busyPolicies } from "./agent/call/when-busy.ts";
export type { OwnerOption } from "./agent/conversation/conversations.ts";
export type { AgentSummary } from "./agent/describe-agent.ts";
export type { ReplyState, StartedReply, StartReplyOptions } from "./agent/turn/start-reply.ts";
export type { ReplyQuestion } from "./agent/turn/turn-host.ts";
export type { WorkflowDetail, WorkflowRecord } from "./andante/andante.ts";
export { knownAndanteLimits, knownAndanteOptions } from "./andante/andante-options.ts";
export type { AgentRecord, EventRecord } from "./andante/host-types.ts";
export { type EventPlace, readAwaits } from "./event/awaits.ts";
export { cancelledBy } from "./event/cause.ts";
export type { EventToSend } from "./event/define-event.ts";
export { anyKey, matchKey, targetOf } from "./event/match-key.ts";
export type { LinkState } from "./execution/commands/links.ts";
export type { PushedTask, PushSettings, PushSource } from "./execution/commands/pushes.ts";
export { limitOf } from "./execution/limits/limits.ts";
export type { ChangeFollower, ExecutionChange } from "./execution/stream/changes.ts";
export { readFailure } from "./journal/failure.ts";
export type { LogLine } from "./observe/log/log-feed.ts";
export { type LogFilter, matchesLog } from "./observe/log/log-filter.ts";
export { logLevels } from "./observe/log/log-level.ts";
export type { LogFollowing } from "./observe/log/logs.ts";
export { bucketOf, noDuration, percentileOf } from "./observe/rollups/duration-buckets.ts";
export { stepTotalsOfRuns } from "./observe/rollups/read-runs.ts";
export { activeTraceparent, inRequestSpan } from "./observe/trace/active-span.ts";
export type { SpanEvent } from "./observe/trace/tracing.ts";
export {
  candidates,
  entriesOf,
  keyOf,
  maxBatchLength,
  maxEntriesRead,
  maxJournalLength,
  maxJournalRows,
  type ReadEntry,
  rangeOf,
  readEntries,
  readExclude,
  searchedEvents,
} from "./store/search/entries.ts";
export { maxValueBytes } from "./store/search/scalars.ts";
export { toBudgetAccount, toKeptAccount, toOtherShares } from "./store/sql/budget-rows.ts";
export {
  integer,
  nullableInteger,
  nullableText,
  type Row,
  readUsage,
  status,
  text,
} from "./store/sql/columns.ts";
export { endOfPage, maxPageTime } from "./store/sql/copy-page.ts";
export { toChunk, toLog, toRoot } from "./store/sql/observation-rows.ts";
export { readPage } from "./store/sql/read-page.ts";
export { toPoint, toTotal } from "./store/sql/rollup-rows.ts";
export { readTags, rowReaders, shortColumns, toTimer } from "./store/sql/rows.ts";
export { toScheduleRow, toStoredSchedule } from "./store/sql/schedule-rows.ts";
export { knownSignal, sentSignal, signalValues, toSignal, toWait, toWork } from "./store/sql/signal-rows.ts";
export {
  toUsageTotal,
  usageColumnOf,
  usageCountColumns,
  usageKeyColumns,
  usageOrder,
  usageValues,
} from "./store/sql/usage-rows.ts";
export { countOpenExecutions } from "./store/sqlite/count-open.ts";
export { problemOfId } from "./values/check-id.ts";
export {
  checkKnownOptions,
  checkOptionGroup,
  countOption,
  type KnownOptions,
} from "./values/check-options.ts";
export { steadyTime, systemClock } from "./values/clock.ts";
export { inTurn, ownTurn } from "./values/own-turn.ts";
export { redactText } from "./values/redact-text.ts";
export { describeIssues, type JsonSchema, toJsonSchema } from "./values/schema.ts";
export { splitPieces } from "./values/split-pieces.ts";
export { isBelow } from "./values/step-path.ts";
export { TurnQueue } from "./values/turn-queue.ts";
export { withTimeout } from "./values/with-timeout.ts";
export { readOutline } from "./workflow/outline.ts";
export type { WorkflowAgent, WorkflowDefinition } from "./workflow/step.ts";
export type { FunctionContext } from "./workflow/step-context.ts";
