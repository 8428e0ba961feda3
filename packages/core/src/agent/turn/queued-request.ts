// The request of a queued message, which is kept with it.
import { ConversationBusyError, ShuttingDownError, StoreUnavailableError } from "../../errors/index.ts";
import type { QueuedMessage } from "../../store/conversation-store.ts";
import type { TurnInput } from "./kept-turn.ts";

/** From this any process can begin the turn of a queued message; JSON. */
export interface QueuedRequest
  extends Pick<TurnInput, "mode" | "settings" | "schema" | "playground" | "traceparent"> {
  /** The process in which its caller waits. */
  readonly process: string;
  readonly context: Readonly<Record<string, unknown>>;
  /** It may reach the reply that runs. */
  readonly steers: boolean;
}

/** The stored request of a queued message: we wrote it ourselves. */
export function readRequest({ request }: Pick<QueuedMessage, "request">): QueuedRequest {
  return JSON.parse(request);
}

/** A reason that ends with this process, with trouble of the store, or with the reply of another process. */
export function isPassing(reason: unknown): boolean {
  return [ShuttingDownError, StoreUnavailableError, ConversationBusyError].some(
    (passing) => reason instanceof passing,
  );
}
