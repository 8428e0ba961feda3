// The outcome of a tool, as it is recorded: its output or its error. The model reads either.
import { PublicError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import { fromJson, type JsonText, toJson } from "../../values/json.ts";
import { jsonWithoutSecrets, withoutSecrets } from "../../values/redact-text.ts";

/** A data part that the tool has written to the reply. */
export interface WrittenPart {
  readonly type: `data-${string}`;
  readonly id?: string;
  readonly data: unknown;
  readonly transient?: boolean;
}

/** The output of a tool as JSON text; a value that JSON cannot hold is an error that names its place. */
export function writeOutput(output: unknown, path: string, wrote: readonly WrittenPart[] = []): JsonText {
  const text = toJson(output, `Output of tool ${path}`);
  const data = wrote.length === 0 ? "" : `"wrote":${JSON.stringify(wrote)}`;
  if (text === undefined) return `{${data}}`;
  return data === "" ? `{"output":${text}}` : `{"output":${text},${data}}`;
}

/** The error of a tool as JSON text: enough for the model to read the same words again. */
export function writeError(thrown: unknown, wrote: readonly WrittenPart[] = []): JsonText {
  const data = wrote.length === 0 ? {} : { wrote };
  if (!(thrown instanceof Error)) return JSON.stringify({ thrown: plain(thrown), ...data });
  const { name, message, public: isPublic } = toFailure(thrown);
  return JSON.stringify({ error: { name, message, public: isPublic }, ...data });
}

/** The error of the tool; where it held a secret, the recorded error: the model reads the same words after a restart. */
export function asRecorded(thrown: unknown, outcome: JsonText): unknown {
  const recorded = Object(fromJson(outcome));
  if (thrown instanceof Error && recorded.error?.message !== thrown.message) return errorOf(recorded.error);
  return thrown instanceof Error ? thrown : recorded.thrown;
}

/** The data parts that were recorded with the outcome: we wrote them ourselves. */
export function readWritten(text: JsonText): readonly WrittenPart[] {
  return text?.includes('"wrote":') ? (Object(fromJson(text)).wrote ?? []) : [];
}

/** The output; throws the error of the tool. */
export function readOutcome(text: JsonText): unknown {
  const { output, error, thrown } = Object(fromJson(text));
  if (error !== undefined) throw errorOf(Object(error));
  if (thrown !== undefined) throw thrown;
  return output;
}

function errorOf({ name, message, public: isPublic }: Record<string, unknown>): Error {
  if (isPublic === true) return new PublicError(String(message));
  const error = new Error(String(message));
  error.name = String(name);
  return error;
}

function plain(thrown: unknown): unknown {
  try {
    const text = toJson(thrown, "The value that the tool threw");
    return text === undefined ? "undefined" : fromJson(jsonWithoutSecrets(thrown));
  } catch {
    return withoutSecrets(String(thrown));
  }
}
