// @andante/client/react: small hooks on live executions.
export { type ExecutionSource, type LiveExecution, useExecution } from "./use-execution.ts";
export { type InboxSource, type LiveInbox, useInbox } from "./use-inbox.ts";
