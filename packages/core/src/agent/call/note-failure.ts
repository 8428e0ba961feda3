// Every call of an agent that failed is one error line, with the ids of the operation, the cause and its stack.
import { AndanteError, FilesBusyError } from "../../errors/index.ts";
import type { Operation } from "./operation.ts";

/** Marks an error that the log has a line about: it may pass several places on its way to the caller. */
const noted = Symbol("noted");

/** Writes the line, unless the error has one. A caller's mistake and a reply that was stopped or refused are not failures. */
export function noteFailure(error: unknown, { logger }: Operation): void {
  if (isNoted(error)) return;
  if (!isFailure(error)) return logger.debug({ err: error }, "a reply of the agent did not come about");
  if (typeof error === "object" && error !== null) Reflect.defineProperty(error, noted, { value: true });
  logger.error({ err: error }, "a reply of the agent failed");
}

/** True when the log has a line about this error already. */
export function isNoted(error: unknown): boolean {
  return typeof error === "object" && error !== null && noted in error;
}

/** 422 is the model's mistake, not the caller's. Without room for files nothing has failed: callers could fill the log so. */
function isFailure(error: unknown): boolean {
  if (error instanceof FilesBusyError) return false;
  return !(error instanceof AndanteError) || error.status >= 500 || error.status === 422;
}
