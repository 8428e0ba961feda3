// How a tool ended, as it is recorded: its output, or what it threw. Either is an outcome that the model reads.
import { PublicError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import { fromJson, type JsonText, toJson } from "../../values/json.ts";

/** The output of a tool as JSON text; what JSON cannot hold is an error that names the place. */
export function writeOutput(output: unknown, path: string): JsonText {
  const text = toJson(output, `Output of tool ${path}`);
  return text === undefined ? "{}" : `{"output":${text}}`;
}

/** What a tool threw as JSON text: enough for the model to read the same words again. */
export function writeError(thrown: unknown): JsonText {
  if (!(thrown instanceof Error)) return JSON.stringify({ thrown: plain(thrown) });
  const { name, message, public: isPublic } = toFailure(thrown);
  return JSON.stringify({ error: { name, message, public: isPublic } });
}

/** The output; throws what the tool threw. */
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
    return toJson(thrown, "What the tool threw") === undefined ? "undefined" : thrown;
  } catch {
    return String(thrown);
  }
}
