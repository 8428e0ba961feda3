// The thread that works on callers' schemas, one at a time, so that none of them holds up the process. Entry point of a worker.
import { isMainThread, type MessagePort, workerData } from "node:worker_threads";
import { isTimeout, withinLimit } from "../../values/within-limit.ts";
import { reasonOf, validateWithin } from "./bounded-validator.ts";
import { problemOfSchema } from "./check-schema.ts";

/** The data of the thread at its start: its end of a channel that carries only our messages. */
export interface SchemaThreadData {
  readonly port: MessagePort;
}

/** Whether the schema is one that we evaluate; with a value, whether the value fits it. Both are JSON text. */
export interface SchemaWork {
  readonly schema: string;
  readonly value?: string | undefined;
  /** Milliseconds. */
  readonly limit: number;
}

export type SchemaVerdict =
  | { readonly ok: true }
  /** `overran`: the limit was too short. */
  | { readonly ok: false; readonly detail: string; readonly overran: boolean };

export type FromSchemaThread = "ready" | SchemaVerdict;

if (!isMainThread) serve(workerData);

function serve({ port }: SchemaThreadData): void {
  const send = (message: FromSchemaThread) => port.postMessage(message);
  port.on("message", (work: SchemaWork) => send(performWork(work)));
  send("ready");
}

export function performWork({ schema, value, limit }: SchemaWork): SchemaVerdict {
  try {
    const parsed = JSON.parse(schema);
    if (value !== undefined) {
      const result = validateWithin(parsed, JSON.parse(value), limit);
      return result.ok ? { ok: true } : { ...result, overran: false };
    }
    const problem = withinLimit(() => problemOfSchema(parsed) ?? null, limit);
    return problem === null ? { ok: true } : { ok: false, detail: problem, overran: false };
  } catch (error) {
    return { ok: false, detail: reasonOf(error, limit), overran: isTimeout(error) };
  }
}
