// The in-process feed: passes committed events, and live text of agents, to the execution's followers.
import type { JournalEvent } from "../../journal/events.ts";
import { TurnoverMap } from "../../values/turnover-map.ts";

/** A piece of an agent's reply. It is not journaled: the whole text is in the step's outcome. */
export interface LiveText {
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly path: string;
  readonly stepIndex: number;
  readonly stepType: string;
  /** The text; for activity of a tool, that as JSON text. */
  readonly delta: string;
  /** Activity of a tool, in place of a piece of text. */
  readonly tool?: LiveTool;
}

/** A call of a tool, or its result. The call is journaled when it has ended, as a checkpoint. */
export interface LiveTool {
  readonly type: "tool-call" | "tool-result" | "tool-error";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly [field: string]: unknown;
}

/** A follower of one execution. */
export interface Follower {
  receive(events: readonly JournalEvent[]): void;
  receiveLive(text: LiveText): void;
  /** The journal has reached this number, with or without its events in the feed. `ended`: with its end. */
  reached(sequence: number, ended: boolean): void;
  /** The process stops, or the execution was deleted: nothing more will come from here. */
  stop(): void;
}

/** Characters that all followers together may keep for their readers: a thousand slow ones must not fill the memory. */
const maxBuffered = 32_000_000;

export class Feed {
  readonly #maxBuffered: number;
  /** Characters that followers keep now. Each follower counts its own in and out. */
  buffered = 0;
  readonly #followers = new TurnoverMap<string, Set<Follower>>();
  readonly #ofAll = new Set<(executionId: string, events: readonly JournalEvent[]) => void>();

  constructor(limit = maxBuffered) {
    this.#maxBuffered = limit;
  }

  /** How many characters a follower may still keep; events that do not fit are read from the journal when their turn comes. */
  get room(): number {
    return Math.max(0, this.#maxBuffered - this.buffered);
  }

  /** How many follow an execution now. */
  get size(): number {
    let size = 0;
    for (const followers of this.#followers.values()) size += followers.size;
    return size;
  }

  /** Passes commits of any execution to `follower`, before any other follower. */
  followAll(follower: (executionId: string, events: readonly JournalEvent[]) => void): void {
    this.#ofAll.add(follower);
  }

  has(executionId: string): boolean {
    return this.#followers.has(executionId);
  }

  /** The followed executions. */
  keys(): readonly string[] {
    return this.#followers.keys();
  }

  follow(executionId: string, follower: Follower): void {
    const followers = this.#followers.get(executionId);
    if (followers === undefined) this.#followers.set(executionId, new Set([follower]));
    else followers.add(follower);
  }

  unfollow(executionId: string, follower: Follower): void {
    const followers = this.#followers.get(executionId);
    followers?.delete(follower);
    if (followers?.size === 0) this.#followers.delete(executionId);
  }

  /** Publishes the events of a commit. */
  publish(executionId: string, events: readonly JournalEvent[]): void {
    for (const follower of this.#ofAll) follower(executionId, events);
    this.show(executionId, events);
  }

  /** Shows earlier events to this execution's followers only. */
  show(executionId: string, events: readonly JournalEvent[]): void {
    for (const follower of this.#followers.get(executionId) ?? []) follower.receive(events);
  }

  publishLive(executionId: string, text: LiveText): void {
    for (const follower of this.#followers.get(executionId) ?? []) follower.receiveLive(text);
  }

  /** Another process may have written to the execution: its journal has reached this number. */
  nudge(executionId: string, sequence: number, ended: boolean): void {
    for (const follower of this.#followers.get(executionId) ?? []) follower.reached(sequence, ended);
  }

  /** The execution was deleted: nothing more will come for its followers. */
  close(executionId: string): void {
    for (const follower of this.#followers.get(executionId) ?? []) follower.stop();
    this.#followers.delete(executionId);
  }

  stop(): void {
    for (const followers of this.#followers.values()) for (const follower of followers) follower.stop();
    this.#followers.clear();
  }
}
