// @andante/client/react: small hooks on live executions and chats.
export {
  type ContinuedChat,
  type ContinuedSource,
  useContinued,
  type WaitingMessage,
} from "./use-continued.ts";
export { type ExecutionSource, type LiveExecution, useExecution } from "./use-execution.ts";
export { type InboxSource, type LiveInbox, useInbox } from "./use-inbox.ts";
export { type StoppedChat, type StoppingTransport, useStop } from "./use-stop.ts";
