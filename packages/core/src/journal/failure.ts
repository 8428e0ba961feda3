// An error as the journal keeps it: name and message of the error that a body throws, without secrets. The stack goes to the
// log only.
import { isNativeError } from "node:util/types";
import { PublicError } from "../errors/index.ts";
import { Fields } from "../values/fields.ts";
import { jsonWithoutSecrets, withoutSecrets } from "../values/redact-text.ts";

export interface Failure {
  readonly name: string;
  readonly message: string;
  /** The path of the step that failed. */
  readonly step?: string | undefined;
  /** The step lent its message to callers (`PublicError`). */
  readonly public?: boolean | undefined;
  /** The thrown value, for the log: held in memory only, since JSON leaves out properties with a symbol as key. */
  readonly [origin]?: FailureOrigin;
}

export const origin: unique symbol = Symbol("origin of a failure");

export interface FailureOrigin {
  readonly thrown: unknown;
  /** The attempt that threw it; undefined where no body was tried. */
  readonly attempt: number | undefined;
}

const maxMessageLength = 10_000;

export function toFailure(thrown: unknown, step?: string, attempt?: number): Failure {
  if (!(thrown instanceof Error) && !isNativeError(thrown)) {
    return {
      name: "Error",
      message: `A value that is not an Error was thrown: ${describe(thrown)}`,
      step,
      [origin]: { thrown, attempt },
    };
  }
  const failure = {
    name: textOf(() => thrown.name),
    message: textOf(() => thrown.message),
    step,
    [origin]: { thrown, attempt },
  };
  return thrown instanceof PublicError ? { ...failure, public: true } : failure;
}

/** The cause of a failure as a log line shows it: with its stack where this process has seen it thrown. */
export function causeOf(failure: Failure): unknown {
  const { name, message } = failure;
  return failure[origin]?.thrown ?? { name, message };
}

/** Reads a failure that was kept as JSON text. */
export function readFailure(
  text: string | null,
  damaged = (problem: string): Error => new TypeError(`a failure that was kept: ${problem}`),
): Failure {
  const fields = Fields.parse(text, damaged);
  return {
    name: fields.optionalText("name") ?? "Error",
    message: fields.optionalText("message") ?? "",
    step: fields.optionalText("step"),
    public: fields.isTrue("public"),
  };
}

// An error's fields are the host's: a getter may throw, a message may not be a string.
function textOf(read: () => unknown): string {
  try {
    return withoutSecrets(String(read()).slice(0, maxMessageLength));
  } catch {
    return "Error";
  }
}

function describe(value: unknown): string {
  try {
    if (typeof value === "string") return withoutSecrets(value.slice(0, 500));
    return (jsonWithoutSecrets(value) ?? String(value)).slice(0, 500);
  } catch {
    return typeof value;
  }
}
