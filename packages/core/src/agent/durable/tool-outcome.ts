// The outcome of a tool, as it is recorded: its output or its error. The model reads either.
import { PublicError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import { Fields, isRecord } from "../../values/fields.ts";
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
  const recorded = readFields(outcome);
  if (!(thrown instanceof Error)) return recorded.value("thrown");
  const error = recorded.object("error");
  return error === undefined || error.text("message") === thrown.message ? thrown : errorOf(error);
}

/** The data parts that were recorded with the outcome: we wrote them ourselves. */
export function readWritten(text: JsonText): readonly WrittenPart[] {
  const wrote = text?.includes('"wrote":') ? readFields(text).value("wrote") : [];
  return Array.isArray(wrote) ? wrote.filter(isWrittenPart) : [];
}

function isWrittenPart(value: unknown): value is WrittenPart {
  return isRecord(value) && typeof value.type === "string" && value.type.startsWith("data-");
}

/** The output; throws the error of the tool. */
export function readOutcome(text: JsonText): unknown {
  const recorded = readFields(text);
  const error = recorded.object("error");
  if (error !== undefined) throw errorOf(error);
  const thrown = recorded.value("thrown");
  if (thrown !== undefined) throw thrown;
  return recorded.value("output");
}

function readFields(text: JsonText): Fields {
  return Fields.parse(text ?? null, (problem) => new TypeError(`The recorded outcome of a tool: ${problem}`));
}

function errorOf(recorded: Fields): Error {
  const message = recorded.text("message");
  if (recorded.isTrue("public")) return new PublicError(message);
  const error = new Error(message);
  error.name = recorded.text("name");
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
