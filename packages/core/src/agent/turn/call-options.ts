// The options of a caller beside the input: user, conversation, settings.
import { InvalidOptionError, TooLargeError } from "../../errors/index.ts";
import { checkId, checkUrlId } from "../../values/check-id.ts";
import { optionJson } from "../../values/check-options.ts";
import { isRecord } from "../../values/fields.ts";
import { isWiderThan } from "../../values/json.ts";
import { type CallSettings, pickSettings } from "../call/call-settings.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import { problemOfPolicy, type WhenBusy } from "../call/when-busy.ts";

export interface AgentCallOptions extends CallSettings {
  /** The user it belongs to. Default: none. */
  readonly userId?: string | undefined;
  /** The conversation that it belongs to. Default: none, nothing is kept. */
  readonly conversationId?: string | undefined;
  /** What happens to the message while a reply runs in its conversation. Default: as the agent has it. */
  readonly whenBusy?: WhenBusy | undefined;
  /** Data for instructions, hooks and tools; JSON. Default: none. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** The caller's W3C `traceparent`: the spans of the reply join that trace. Default: a trace of their own. */
  readonly traceparent?: string | undefined;
  /** Aborted when the caller does not wait for the reply any more. Default: never. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The options in the form that a turn needs; throws for options that the agent does not accept, and for a context of more
 * than `maxContext` bytes.
 */
export function checkCallOptions(agent: CallableAgent, options: AgentCallOptions, maxContext: number) {
  const { userId, conversationId, context = {}, whenBusy } = options;
  checkId(userId, "userId");
  checkUrlId(conversationId, "conversationId");
  const problem = problemOfPolicy(whenBusy);
  if (problem !== undefined) throw new InvalidOptionError({ option: "whenBusy", problem });
  const settings = pickSettings(options);
  agent.checkSettings(settings);
  return { settings, context: contextMap(context, maxContext) };
}

function contextMap(context: unknown, limit: number): Map<string, unknown> {
  const option = "context";
  if (!isRecord(context)) throw new InvalidOptionError({ option, problem: "expected an object" });
  const refuse = (size: number | string): never => {
    throw new TooLargeError({ subject: "Context", size, limit, option: "limits.context" });
  };
  if (isWiderThan(context, limit)) refuse(`more than ${limit}`);
  const size = Buffer.byteLength(optionJson(option, context) ?? "");
  if (size > limit) refuse(size);
  return new Map(Object.entries(context));
}
