// The messages of the schema thread, and the work itself.
import type { MessagePort } from "node:worker_threads";
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
  /** How often work that got little of the processor is begun again. */
  readonly tries: number;
}

export type SchemaVerdict =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly detail: string /** The limit was too short. */;
      readonly overran: boolean;
    };

export type FromSchemaThread = "ready" | SchemaVerdict;

export function performWork({ schema, value, limit, tries }: SchemaWork): SchemaVerdict {
  try {
    const parsed = JSON.parse(schema);
    if (value !== undefined) {
      const result = validateWithin(parsed, JSON.parse(value), limit, tries);
      return result.ok ? { ok: true } : { ...result, overran: false };
    }
    const problem = withinLimit(() => problemOfSchema(parsed) ?? null, limit, tries);
    return problem === null ? { ok: true } : { ok: false, detail: problem, overran: false };
  } catch (error) {
    return { ok: false, detail: reasonOf(error, limit), overran: isTimeout(error) };
  }
}
