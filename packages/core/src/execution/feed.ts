// The in-process feed: what a commit has recorded, and what is said meanwhile, reaches those who follow the execution.
import type { JournalEvent } from "../store/store.ts";

/** A piece of an agent's answer. It is not journaled: the whole text is in the step's outcome. */
export interface LiveText {
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  readonly path: string;
  readonly stepIndex: number;
  readonly stepType: string;
  readonly delta: string;
}

/** Someone who follows one execution. */
export interface Follower {
  receive(events: readonly JournalEvent[]): void;
  receiveLive(text: LiveText): void;
  /** The process stops: nothing more will come from here. */
  stop(): void;
}

export class Feed {
  readonly #followers = new Map<string, Set<Follower>>();

  has(executionId: string): boolean {
    return this.#followers.has(executionId);
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

  publish(executionId: string, events: readonly JournalEvent[]): void {
    for (const follower of this.#followers.get(executionId) ?? []) follower.receive(events);
  }

  publishLive(executionId: string, text: LiveText): void {
    for (const follower of this.#followers.get(executionId) ?? []) follower.receiveLive(text);
  }

  stop(): void {
    for (const followers of this.#followers.values()) for (const follower of followers) follower.stop();
    this.#followers.clear();
  }
}
