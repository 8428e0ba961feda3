// The causes of failed replies and tools, from the log. A caller that may not read the log sees none.
import type { LogRecord } from "@andante/client";
import { isObject } from "../../form/as-schema.ts";

export interface FailureCauses {
  /** The cause of the newest failed reply. */
  readonly reply: string | undefined;
  /** The errors of tools, by call id. */
  readonly tools: ReadonlyMap<string, string>;
}

export function causesIn(lines: readonly LogRecord[]): FailureCauses {
  const tools = new Map<string, string>();
  let reply: string | undefined;
  for (const { err, toolCallId, toolName } of lines) {
    const cause = deepest(err);
    if (typeof toolCallId === "string" && cause !== undefined) tools.set(toolCallId, cause);
    else if (toolName === undefined && cause !== undefined) reply = cause;
  }
  return { reply, tools };
}

/** The message of the innermost cause: the words of the provider, or of the tool. */
function deepest(error: unknown): string | undefined {
  if (!isObject(error)) return undefined;
  const { message, cause } = error;
  return deepest(cause) ?? (typeof message === "string" && message !== "" ? message : undefined);
}
