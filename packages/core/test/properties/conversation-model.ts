// The reference model of a kept conversation: the messages after each action, and the allowed responses.
//
// Actions that overlap take effect one after the other, in some order; one whose answer was lost in a crash may have
// had no effect, its whole effect, or that of a message that waited. So the model gives the set of permitted outcomes.
import { inputOf, roundOf, type Talk, type ToolUse, textOfRound } from "./talk.ts";
import { finalText, type SeenTool } from "./talk-reference.ts";
import { mix } from "./tree.ts";

/** A message of the user, or a reply: complete, waiting for decisions, or cut off. */
export interface ModelMessage {
  readonly role: "user" | "assistant";
  /** Empty for a reply that no state has shown yet. */
  readonly id: string;
  /** `unfinished`: the input of a call streams, and no call will come. */
  readonly status: "sent" | "done" | "waiting" | "partial" | "unfinished";
  readonly text: string;
}

export type Messages = readonly ModelMessage[];

/**
 * `post` sends a message, which may be new, the same again or an edited one; `again` asks for another reply to it.
 * `decide` sends decisions and outputs for the last reply. `stop` ends the reply that runs.
 */
export type Action =
  | { readonly kind: "post" | "again"; readonly id: string; readonly text: string }
  /** The reply that is decided about, as its sender has seen it. */
  | { readonly kind: "decide"; readonly id: string; readonly text: string }
  | { readonly kind: "stop" };

/** `withdrawn`: it waited, and an edit of an earlier message removed it. `unknown`: the process ended before it answered. */
export type Answer = "ok" | "conflict" | "refused" | "stopped" | "withdrawn" | "unknown";

/** An action that was taken, and its answer. */
export interface Taken {
  readonly action: Action;
  readonly answer: Answer;
}

/** The effect of each text of a user. */
export type TalkOf = (text: string) => Talk;

/** Every state that the actions of a group may lead to, from this one; `isStopped`: replies may be cut off. */
export function permittedStates(before: Messages, group: readonly Taken[], talkOf: TalkOf): Messages[] {
  const isStopped = group.some(({ action }) => action.kind === "stop");
  const states: Messages[] = [];
  for (const order of ordersOf(group)) {
    let open: Messages[] = [before];
    for (const taken of order)
      open = open.flatMap((state) => statesAfter(state, taken, group, { talkOf, isStopped }));
    states.push(...open);
  }
  return [...new Map(states.map((state) => [viewOf(state), state])).values()];
}

interface Circumstances {
  readonly talkOf: TalkOf;
  readonly isStopped: boolean;
}

/** The states after one action, as far as they fit its answer. */
function statesAfter(
  state: Messages,
  { action, answer }: Taken,
  group: readonly Taken[],
  circumstances: Circumstances,
): Messages[] {
  if (action.kind === "stop") return [state];
  const effect = effectOf(state, action, circumstances);
  if (answer === "withdrawn") return isBehindEdit(state, action, group) ? [state] : [];
  if (answer === "unknown") return [state, ...effect.states, ...keptOnly(state, action)];
  if (effect.answer === "conflict" || effect.answer === "refused") {
    // One that joins the reply to the same message is answered with it, and so is one that has waited for another reply.
    const isAnswered = isShared(action, group) || (action.kind === "post" && group.length > 1);
    return effect.answer === answer || (answer !== "refused" && isAnswered) ? [state] : [];
  }
  if (answer === "conflict" || answer === "refused") return [];
  if (answer === "stopped" && !circumstances.isStopped) return [];
  return effect.states;
}

/** A message that waited for another reply when the process ended is kept, and has none. */
function keptOnly(state: Messages, action: Action): Messages[] {
  if (action.kind !== "post" || indexOf(state, action.id) !== -1) return [];
  return [[...state, sentMessage(action)]];
}

/** Another action of the group is for an earlier message than this new one. */
function isBehindEdit(state: Messages, action: Action, group: readonly Taken[]): boolean {
  if (action.kind !== "post" || indexOf(state, action.id) !== -1) return false;
  return group.some(({ action: other }) => other.kind === "post" && indexOf(state, other.id) !== -1);
}

/** Another action of the group leads to a reply to the same message. */
function isShared(action: Action, group: readonly Taken[]): boolean {
  if (action.kind === "stop" || action.kind === "decide") return false;
  return group.some(({ action: other }) => {
    const isReplied = other !== action && (other.kind === "post" || other.kind === "again");
    return isReplied && other.id === action.id && other.text === action.text;
  });
}

interface Effect {
  readonly answer: "ok" | "conflict" | "refused";
  readonly states: Messages[];
}

function effectOf(
  state: Messages,
  action: Exclude<Action, { kind: "stop" }>,
  circumstances: Circumstances,
): Effect {
  if (action.kind === "decide") return decided(state, action, circumstances);
  const { id, text, kind } = action;
  const index = indexOf(state, id);
  const message = sentMessage(action);
  const newest = state.findLast(({ role }) => role === "user");
  if (kind === "again" && newest !== undefined && newest.id !== id) return { answer: "conflict", states: [] };
  if (index === -1) return withReply([...state, message], [], circumstances);
  const isSame = state[index]?.text === text;
  if (!isSame || kind === "again") return withReply([...state.slice(0, index), message], [], circumstances);
  const after = state.slice(index + 1);
  if (after[0]?.role === "assistant") return { answer: "conflict", states: [] };
  return withReply(state.slice(0, index + 1), after, circumstances);
}

/** A reply to the last message of `before`; one that is stopped is cut off, or was not begun. */
function withReply(before: Messages, after: Messages, { talkOf, isStopped }: Circumstances): Effect {
  const reply = replyTo(before, talkOf, "", 0);
  const cut = isStopped
    ? [
        [...before, { ...reply, ...cutOff }, ...after],
        [...before, ...after],
      ]
    : [];
  return { answer: "ok", states: [[...before, reply, ...after], ...cut] };
}

/** The text of a reply before it was cut off depends on the moment. */
const cutOff = { status: "partial", text: "" } as const;

/** The decisions about the last reply, which then continues. */
function decided(
  state: Messages,
  { id, text }: { readonly id: string; readonly text: string },
  { talkOf, isStopped }: Circumstances,
): Effect {
  const last = state.at(-1);
  if (last?.id !== id) return { answer: "refused", states: [] };
  if (last.status !== "waiting" || last.text !== text) return { answer: "conflict", states: [] };
  const before = state.slice(0, -1);
  const reply = replyTo(before, talkOf, id, roundOf(text) + 1);
  const cut = isStopped ? [[...before, { ...reply, ...cutOff }]] : [];
  return { answer: "ok", states: [[...before, reply], ...cut] };
}

function sentMessage({ id, text }: { readonly id: string; readonly text: string }): ModelMessage {
  return { role: "user", id, status: "sent", text };
}

/** The reply to the last of these messages when the rounds before `from` are decided. */
function replyTo(messages: Messages, talkOf: TalkOf, id: string, from: number): ModelMessage {
  const texts = messages.flatMap(({ role, text }) => (role === "user" ? [text] : []));
  const talk = talkOf(texts.at(-1) ?? "");
  const waiting = talk.rounds.findIndex((uses, round) => round >= from && uses.some(isWaiting));
  const reply = { role: "assistant", id } as const;
  if (waiting !== -1) return { ...reply, status: "waiting", text: textOfRound(waiting) };
  const seen = talk.rounds.flatMap((uses, round) =>
    uses.map((use, position) => seenOf(use, round, position)),
  );
  return { ...reply, status: "done", text: finalText(texts.join(" "), seen) };
}

function isWaiting({ tool }: ToolUse): boolean {
  return tool === "approve" || tool === "edit" || tool === "deny" || tool === "client";
}

function seenOf(use: ToolUse, round: number, position: number): SeenTool {
  const { tool } = use;
  if (tool === "fail") return [tool, "failed"];
  if (tool === "deny") return [tool, "denied"];
  return [tool, chatOutput(tool === "client" ? "client" : "tool", inputOf(round, position, use))];
}

/** The output of a tool, and the output that the client gives for one of its own. */
export function chatOutput(whose: "tool" | "client", input: unknown): number {
  return mix(whose, input);
}

function indexOf(state: Messages, id: string): number {
  return state.findIndex((message) => message.role === "user" && message.id === id);
}

/** A state as it is compared: the ids of new replies are not known before. */
export function viewOf(state: Messages): string {
  return JSON.stringify(state.map(({ id, role, ...message }) => [role === "user" ? id : role, message]));
}

function ordersOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, index) =>
    ordersOf([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}
