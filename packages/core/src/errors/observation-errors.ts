// Errors of reading traces.
import { AndanteError } from "./andante-error.ts";

/** No trace of this id, or none that the caller may see. */
export class TraceNotFoundError extends AndanteError {
  constructor({ traceId }: { traceId: string }) {
    super(`Trace ${traceId} not found`, { code: "trace-not-found", status: 404 });
  }
}
