// What an execution wants to commit next: outcomes, what follows from them, and the work that starts after the commit.
import type { NewEvent, Suspension } from "../store/store.ts";
import type { AbortScope } from "./abort-scope.ts";
import type { Fiber } from "./fibers.ts";
import type { RunCommand } from "./interpreter/commands.ts";

export class Batch {
  /** Outcomes of bodies. */
  events: NewEvent[] = [];
  /** Suspensions that the outcomes open. */
  open: Suspension[] = [];
  /** What follows from the outcomes; void when its branch has lost before it is committed. */
  following: { readonly event: NewEvent; readonly scope: AbortScope }[] = [];
  /** Containers that have ended with something waiting inside. */
  closeBelow: string[] = [];
  /** Bodies to run once the batch is committed. */
  starts: { readonly fiber: Fiber; readonly command: RunCommand }[] = [];
  /** Branches whose signals are aborted once the batch is committed. */
  lost: AbortScope[] = [];

  /** Puts what could not be done yet (the execution is paused) in front of this batch. */
  prepend(held: Batch): void {
    this.following.unshift(...held.following);
    this.closeBelow.unshift(...held.closeBelow);
    this.starts.unshift(...held.starts);
    this.lost.unshift(...held.lost);
  }

  /** Leaves out what belongs to branches that have lost meanwhile. */
  prune(): void {
    if (this.lost.length === 0) return;
    this.following = this.following.filter(({ scope }) => !scope.closed);
    this.starts = this.starts.filter(({ fiber }) => !fiber.scope.closed);
  }
}
