// Compaction: a summary stands for the older messages of a conversation. It is made beside a reply, kept once, and seen by
// the replies after it; the messages that it stands for stay in the conversation.
import { isToolUIPart, type UIMessage } from "ai";
import type { CallableAgent } from "../call/callable-agent.ts";
import type { SummaryRange } from "../call/message-options.ts";
import { tokensOf, windowOf } from "./window.ts";

/** A message of a conversation; one with a range is a summary. */
export type KeptMessage = UIMessage & { readonly summary?: SummaryRange };

type Remembering = Pick<CallableAgent, "window" | "memory">;

/** A summary that is due. */
export interface DueSummary {
  /** The user's message that will follow it. */
  readonly before: string;
  readonly range: SummaryRange;
  /** The last summary, which the new one replaces, then the messages since. */
  readonly messages: readonly UIMessage[];
}

/** The part of a conversation that the model sees: the last summary, and the window of the messages after it. */
export function seenMessages({ window, memory }: Remembering, kept: readonly KeptMessage[]): UIMessage[] {
  const at = memory.compact === undefined ? -1 : kept.findLastIndex(isSummary);
  const rest = kept.slice(at + 1).filter((message) => !isSummary(message));
  return [...exchangeOf(kept[at]), ...windowOf(rest, window, memory.tokens)];
}

/** The summary to make beside the reply to these messages; undefined while they are few. */
export function dueSummary(
  { window, memory }: Remembering,
  kept: readonly KeptMessage[],
): DueSummary | undefined {
  const { compact } = memory;
  if (compact === undefined) return undefined;
  const at = kept.findLastIndex(isSummary);
  const rest = kept.slice(at + 1);
  const sizes = rest.map(tokensOf);
  const total = sum(sizes) + tokensOf(kept[at]);
  // Before the oldest message leaves the window, so that no message is lost between a summary and the window.
  if (total <= compact.above && rest.length <= window / 2) return undefined;
  const cut = cutOf(
    rest,
    compact.keep ?? defaultKeep,
    (end) => sum(sizes.slice(0, end)) <= 2 * compact.above,
  );
  const replaced = rest.slice(0, cut);
  const [first, last, before] = [replaced[0], replaced.at(-1), rest[cut]];
  if (first === undefined || last === undefined || before === undefined) return undefined;
  // A summary for each message would cost more than it saves where the messages that stay are long.
  if (sum(sizes.slice(0, cut)) < compact.above / 4 && rest.length <= window / 2) return undefined;
  const earlier = kept[at]?.summary;
  const range = {
    from: earlier?.from ?? first.id,
    upTo: last.id,
    messages: (earlier?.messages ?? 0) + replaced.length,
  };
  return { before: before.id, range, messages: [...exchangeOf(kept[at]), ...replaced] };
}

export const defaultKeep = 8;

/** How many messages are replaced: the rest begins with a user's message, and has all calls that wait. */
function cutOf(rest: readonly UIMessage[], keep: number, fits: (end: number) => boolean): number {
  const reply = rest.findLastIndex(({ role }) => role === "assistant");
  const last = Math.min(rest.length - keep, hasOpenCalls(rest[reply]) ? reply : rest.length);
  const ends = rest.flatMap(({ role }, index) =>
    role === "user" && index > 0 && index <= last ? [index] : [],
  );
  // A conversation that was long before it was compacted is summarised in parts, one beside each reply.
  return ends.findLast(fits) ?? ends[0] ?? 0;
}

function hasOpenCalls(message: UIMessage | undefined): boolean {
  const ended = ["output-available", "output-error", "output-denied"];
  return message?.parts.some((part) => isToolUIPart(part) && !ended.includes(part.state)) === true;
}

function isSummary({ summary }: KeptMessage): boolean {
  return summary !== undefined;
}

/** The summary as a model sees it: its own words, never those of the user. Providers want a user's message first. */
function exchangeOf(message: KeptMessage | undefined): UIMessage[] {
  if (message?.summary === undefined) return [];
  const { id, parts } = message;
  return [
    { id: `${id}-request`, role: "user", parts: [{ type: "text", text: summaryRequest }] },
    { id, role: "assistant", parts },
  ];
}

export const summaryRequest = "Summarize our conversation up to here.";

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
