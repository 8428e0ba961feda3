// The turns that run in this process: one at a time in each conversation, found by it, and ended when the process stops.
import {
  ConversationNotFoundError,
  MessageWithdrawnError,
  ReplyLimitError,
  ShuttingDownError,
} from "../../errors/index.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import { ActiveTurn, JoinsReply, type Question, type SharedReply } from "./active-turn.ts";
import { KeyedQueue, type Place } from "./keyed-queue.ts";

/** Milliseconds that an aborted turn gets to end in order. */
const abortGrace = 1000;

/** A turn that has a conversation to itself, or waits for that. */
interface Holder {
  readonly turn: ActiveTurn;
  readonly userId: string | null;
}

/** The part of the limit that users with fewer turns get beyond it. */
const userReserve = 0.1;

export class ActiveTurns {
  /** Every turn, from its first check on; with its place in the conversation that it holds. */
  readonly #turns = new Map<ActiveTurn, Place | undefined>();
  /** By conversation. */
  readonly #queue = new KeyedQueue<Holder>((conversationId) => this.#freed(conversationId));
  #freed: (conversationId: string) => void = () => undefined;
  readonly #limit: number;
  readonly #reserve: number;
  /** How many turns of each user run. */
  readonly #ofUser = new Map<string, number>();
  /** Work after replies, such as making titles. */
  readonly #afterwards = new Set<Promise<void>>();
  #closing = false;

  /**
   * No more than `limit` turns run at once, those that wait for their conversation included; and a tenth more for users who
   * have less than a tenth of them, so that one user cannot keep the others out.
   */
  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
    this.#reserve = Math.floor(limit * userReserve);
  }

  /** `caller` is aborted when the caller leaves. Code that begins a turn must end it. */
  begin(agentId: string, caller: AbortSignal | undefined, userId?: string): ActiveTurn {
    if (this.#closing) throw new ShuttingDownError();
    if (!this.#hasRoom(userId)) throw new ReplyLimitError({ limit: this.#limit });
    const turn = this.#add(agentId, caller);
    if (userId !== undefined) this.#countFor(userId, turn);
    return turn;
  }

  #hasRoom(userId: string | undefined): boolean {
    const count = this.#turns.size;
    if (count < this.#limit) return true;
    const own = userId === undefined ? this.#reserve : (this.#ofUser.get(userId) ?? 0);
    return own < this.#reserve && count < this.#limit + this.#reserve;
  }

  #countFor(userId: string, turn: ActiveTurn): void {
    const add = (change: number) => {
      const count = (this.#ofUser.get(userId) ?? 0) + change;
      if (count === 0) this.#ofUser.delete(userId);
      else this.#ofUser.set(userId, count);
    };
    add(1);
    void turn.over.then(() => add(-1));
  }

  /** A turn that was accepted before and continues here: no limit keeps it out. */
  recover(agentId: string): ActiveTurn {
    const turn = this.#add(agentId, undefined);
    turn.isRecovered = true;
    return turn;
  }

  #add(agentId: string, caller: AbortSignal | undefined): ActiveTurn {
    const turn = new ActiveTurn(agentId, caller, (ended) => this.#ended(ended));
    this.#turns.set(turn, undefined);
    return turn;
  }

  /**
   * Waits until the conversation is free. From then on the turn holds it until it ends. A recovered one goes ahead of those
   * that wait: it was accepted before them, and nothing begins in the conversation before it has ended. A caller does not
   * wait for turns of another user: `readOwner` is called before, and undefined means that the conversation has not begun.
   * `waits` is called before it waits, and throws to leave.
   */
  async enter(
    turn: ActiveTurn,
    conversationId: string,
    userId: string | null,
    readOwner: () => Promise<string | null | undefined>,
    waits: () => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const mayWait = async () => {
      const owner = await readOwner();
      // A conversation that is about to begin belongs to the user of its turn.
      const whose = owner === undefined ? this.#queue.holder(conversationId)?.userId : owner;
      if (whose !== undefined && whose !== userId) throw new ConversationNotFoundError({ conversationId });
      await waits();
    };
    const options = { ahead: turn.isRecovered, mayWait };
    this.#turns.set(turn, await this.#queue.enter(conversationId, { turn, userId }, turn.signal, options));
  }

  /**
   * The turn waits for one of another process. It stays the first of the turns that wait; only the other one goes before it,
   * should that continue here.
   */
  async yieldWhile(turn: ActiveTurn, work: Promise<void>): Promise<void> {
    const place = this.#turns.get(turn);
    await (place === undefined ? work : place.yieldWhile(work));
  }

  /** Work that only the end of the process waits for. It never rejects. */
  afterwards(work: Promise<void>): void {
    this.#afterwards.add(work);
    void work.finally(() => this.#afterwards.delete(work));
  }

  isRunning(agentId: string): boolean {
    for (const turn of this.#turns.keys()) if (turn.agentId === agentId) return true;
    return false;
  }

  /** The turn in the conversation that readers may attach to. A `userId` must be the one that it runs for. */
  find(conversationId: string, userId?: string | null): ActiveTurn | undefined {
    const holder = this.#queue.holder(conversationId);
    if (!holder?.turn.isAttachable) return undefined;
    return userId === undefined || holder.userId === userId ? holder.turn : undefined;
  }

  /**
   * The turn of the conversation that replies to the same message of the same user, or waits to. One that waits itself gets
   * only those before it: two never wait for each other.
   */
  same(
    conversationId: string,
    userId: string | null,
    asked: Question,
    self: ActiveTurn,
  ): ActiveTurn | undefined {
    for (const { turn, userId: whose } of this.#queue.members(conversationId)) {
      if (turn === self) return undefined;
      if (whose === userId && turn.question !== undefined && isSame(turn.question, asked)) return turn;
    }
    return undefined;
  }

  /** `freed` is called with each conversation in which no turn runs or waits any more. */
  onFree(freed: (conversationId: string) => void): void {
    this.#freed = freed;
  }

  /** Whether turns run or wait in the conversation. */
  isBusy(conversationId: string): boolean {
    return this.#queue.members(conversationId).length > 0;
  }

  /** Ends the turn that waits to reply to a message which was taken back. */
  withdraw(conversationId: string, messageId: string): void {
    for (const { turn } of this.#queue.members(conversationId))
      if (turn.question?.messageId === messageId) turn.stop(new MessageWithdrawnError({ messageId }));
  }

  /** A message waits that may reach the reply of the conversation. */
  steer(conversationId: string): void {
    const turn = this.#queue.holder(conversationId)?.turn;
    if (turn !== undefined) turn.isSteered = true;
  }

  /** A reply has a message that waits: its caller reads that one. */
  join(conversationId: string, messageId: string, reply: SharedReply): void {
    for (const { turn } of this.#queue.members(conversationId).slice(1))
      if (turn.question?.messageId === messageId) turn.stop(new JoinsReply(reply));
  }

  /** Resolves when the message is kept that the conversation's turn replies to: messages that wait come after it. */
  async begun(conversationId: string): Promise<void> {
    await this.#queue.holder(conversationId)?.turn.hasBegun;
  }

  /** Stops the turn that holds the conversation. */
  stopIn(conversationId: string): void {
    this.#queue.holder(conversationId)?.turn.stop();
  }

  /** Accepts nothing new. Turns get the grace period to end, then the turns are aborted that no other process continues. */
  async close(grace: number): Promise<void> {
    this.#closing = true;
    await withTimeout(this.#allOver(), grace);
    for (const turn of this.#turns.keys()) if (!turn.isDurable) turn.stop(new ShuttingDownError());
    await withTimeout(this.#allOver(), abortGrace);
  }

  #ended(turn: ActiveTurn): void {
    const place = this.#turns.get(turn);
    this.#turns.delete(turn);
    place?.leave();
  }

  async #allOver(): Promise<void> {
    await Promise.all(Array.from(this.#turns.keys(), (turn) => turn.over));
    await Promise.all(this.#afterwards);
  }
}

function isSame({ agentId, mode, messageId, body }: Question, asked: Question): boolean {
  const same = agentId === asked.agentId && mode === asked.mode && messageId === asked.messageId;
  return same && (body === undefined || body === asked.body);
}
