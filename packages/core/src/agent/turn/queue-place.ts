// The place of a message in the queue of its conversation, which is kept: whatever happens to the process, it gets its reply.
import { randomUUID } from "node:crypto";
import type { UIMessage } from "ai";
import { ConversationNotFoundError, QueueFullError, ReplyStoppedError } from "../../errors/index.ts";
import { parseObject } from "../../values/fields.ts";
import type { CallSettings } from "../call/call-settings.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import { titleOf } from "../conversation/open-conversation.ts";
import type { ActiveTurn } from "./active-turn.ts";
import { isPassing, type QueuedRequest } from "./queued-request.ts";
import type { StartTurnOptions, TurnEnvironment } from "./turn-environment.ts";

/** The message, and who asks. */
export interface Queueing {
  readonly agent: Pick<CallableAgent, "id" | "whenBusy">;
  readonly conversationId: string;
  readonly userId: string | null;
  readonly active: ActiveTurn;
  readonly settings: CallSettings;
  /** The caller's context, a JSON object. */
  readonly context: string;
  readonly sent: UIMessage;
}

export class QueuePlace {
  readonly #environment: TurnEnvironment;
  readonly #asked: Queueing;
  readonly #options: StartTurnOptions;
  #isTaken: boolean;

  constructor(environment: TurnEnvironment, asked: Queueing, options: StartTurnOptions) {
    this.#environment = environment;
    this.#asked = asked;
    this.#options = options;
    this.#isTaken = options.isLeft === true;
  }

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** It may reach the reply that runs: a caller of another kind cannot read that one. */
  get steers(): boolean {
    const { mode, whenBusy = this.#asked.agent.whenBusy } = this.#options;
    return mode === "chat" && whenBusy === "steer";
  }

  /**
   * It waits for another reply, perhaps for minutes: from now on it is not lost. Throws in a conversation that has become
   * another user's meanwhile.
   */
  async take(): Promise<void> {
    if (this.#isTaken) return;
    const { conversations, turns, clock, maxQueued: most } = this.#environment;
    const { agent, active, sent, conversationId, userId } = this.#asked;
    const where = { key: randomUUID(), conversationId, userId, agentId: agent.id };
    const { ownConversation } = this.#options;
    const text = { body: JSON.stringify(sent), title: titleOf(sent) };
    const message = { messageId: sent.id, ...text, again: false, ownConversation };
    const queue = { request: JSON.stringify(this.#request()), most };
    const { kind } = await conversations.post({ ...where, ...message, queue, at: clock.now() });
    if (kind === "foreign") throw new ConversationNotFoundError({ conversationId });
    if (kind === "full") throw new QueueFullError({ conversationId, limit: most });
    this.#isTaken = true;
    if (this.steers) turns.steer(conversationId);
    // The caller has left meanwhile.
    if (active.signal.aborted) await this.giveUp(active.signal.reason);
  }

  /** The turn does not begin. Its message stays queued where the next process can do better, or its caller may leave. */
  async giveUp(reason: unknown): Promise<void> {
    if (!this.#isTaken || isPassing(reason)) return;
    const { queues, conversations } = this.#environment;
    const { conversationId, userId, sent } = this.#asked;
    if (this.#options.keepsPlace && reason instanceof ReplyStoppedError)
      return queues.release(conversationId);
    const which = { key: randomUUID(), conversationId, userId, messageId: sent.id, keep: true };
    await conversations.leaveQueue(which).catch(() => undefined);
  }

  #request(): QueuedRequest {
    const { settings } = this.#asked;
    const { mode, schema = null, playground, traceparent = null } = this.#options;
    const process = this.#environment.queues.process;
    const context = parseObject(this.#asked.context, "The context of a message");
    const how = { mode, settings, schema, playground, traceparent };
    return { ...how, process, context, steers: this.steers };
  }
}
