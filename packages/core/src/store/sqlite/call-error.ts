// The error of a call that a database thread could not serve.
import { JournalDamagedError, StoreRefusedError, StoreUnavailableError } from "../../errors/index.ts";
import type { CallFailure } from "./thread-messages.ts";

export function callError(operation: string, failure: CallFailure): Error {
  if (failure.kind === "damaged") return new JournalDamagedError(failure);
  const cause = new Error(failure.message);
  return failure.kind === "refused"
    ? new StoreRefusedError({ operation, cause })
    : new StoreUnavailableError({ cause });
}
