// Advances interpretations against the journal: recorded results are returned at once, other commands become work.
//
// A fiber is one interpretation under way; andAll and andRace open one for each branch. Nothing here does I/O: the
// work to do is handed to `Work`, and the driver comes back with `reply` when it is done and committed.

import type { Journal, LoopRound, Resumption } from "../../journal/journal.ts";
import type { Outcome } from "../../journal/outcome.ts";
import { AbortScope } from "../body/abort-scope.ts";
import type {
  BranchesCommand,
  Command,
  Interpretation,
  Joined,
  Place,
  RunCommand,
  RunReply,
  WaitingCalls,
} from "../interpreter/commands.ts";
import { abortReason, decides, earlier, type Fiber, type Join } from "./join.ts";

export type { Fiber } from "./join.ts";

/**
 * The most branches that begin, outcomes that are taken in and sleeps that end between two commits: a fan-out of 20 000
 * would otherwise hold the event loop for a third of a second, on a busy machine for seconds. 500 take a few milliseconds.
 */
export const sliceSize = 500;

/** The requests of the fibers to the driver. */
export interface Work {
  /** Record that a step or container starts. */
  start(fiber: Fiber, place: Place): void;
  /** Record how a container ended. */
  end(fiber: Fiber, place: Place, outcome: Outcome): void;
  /** Run a user function once its start is committed, then `reply`. */
  run(fiber: Fiber, command: RunCommand): void;
  /** Check a value against a schema; the outcome at once, or undefined and a `reply` later. */
  check(fiber: Fiber, command: Extract<Command, { kind: "check" }>): Outcome | undefined;
  /** Wake the fiber up at a time, or soon when that time has come already, with `reply`. */
  wait(fiber: Fiber, path: string, at: number): void;
  /** The fiber that waits at this path runs: its timer stays in the store until something else is recorded there. */
  stopWaiting(path: string): void;
  /** Abort the signals of branches that lost, once that is committed. */
  lost(scope: AbortScope, reason: Error): void;
}

export class Fibers {
  readonly root: AbortScope = new AbortScope();
  readonly #journal: Journal;
  readonly #work: Work;
  /** Fibers that wait to be resumed, by the path of the suspension. */
  readonly #waiting = new Map<string, Fiber>();
  /** The calls of those whose agents wait; made for the first. */
  #calls: Map<Fiber, WaitingCalls> | undefined;
  #outcome: Outcome | undefined;
  /** How many steps may start in branches that are opened before the next commit. */
  #room = sliceSize;
  /** Those whose next branches wait for that; made for the first. */
  #held: Set<Join> | undefined;

  constructor(journal: Journal, work: Work) {
    this.#journal = journal;
    this.#work = work;
  }

  /** How the whole workflow ended, once it has. */
  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  /** True while branches wait to be opened. */
  get isHeld(): boolean {
    return this.#held !== undefined && this.#held.size > 0;
  }

  /** A commit is about to follow: opens the next branches of those that wait, the outermost first. */
  openNext(): void {
    this.#room = sliceSize;
    if (this.#held === undefined) return;
    for (const join of [...this.#held].sort((one, other) => one.depth - other.depth)) {
      if (this.#room <= 0) return;
      this.#held.delete(join);
      // A join before it in this list may have decided it.
      if (join.decided || join.parent.scope.closed) continue;
      this.#openMore(join);
      const joined = this.#decide(join);
      if (joined !== undefined) this.#advance(join.parent, joined);
    }
  }

  begin(interpretation: Interpretation): void {
    this.#advance({ interpretation, scope: this.root, join: undefined, index: 0, sequence: 0 }, undefined);
  }

  /** Continues a fiber whose work is done. `sequence` numbers the outcome it gets. */
  reply(fiber: Fiber, reply: RunReply | number, sequence: number): void {
    if (fiber.scope.closed) return;
    fiber.sequence = Math.max(fiber.sequence, sequence);
    this.#leaveCalls(fiber);
    this.#advance(fiber, reply);
  }

  /** The fiber does not wait for calls any more: one of them lets its body run again. */
  #leaveCalls(fiber: Fiber): void {
    const calls = this.#calls?.get(fiber);
    if (calls === undefined) return;
    this.#calls?.delete(fiber);
    for (const path of calls.paths) this.#waiting.delete(path);
    for (const { path } of calls.sleeps ?? []) this.#work.stopWaiting(path);
  }

  /** The body of a fiber runs again at this time. */
  wait(fiber: Fiber, path: string, at: number): void {
    const waits = this.#journal.checkpoints?.waitsOf(path)?.count ?? 0;
    this.reply(fiber, { kind: "wait", waits, at }, 0);
  }

  /** A resume has been journaled: the fiber that waits for it continues. */
  resume(path: string): void {
    const fiber = this.#waiting.get(path);
    const resumption = this.#journal.get(path)?.resumption;
    if (fiber === undefined || resumption === undefined) return;
    this.#waiting.delete(path);
    this.#leaveCalls(fiber);
    if (!fiber.scope.closed) this.#advance(fiber, resumption);
  }

  #advance(fiber: Fiber, first: unknown): void {
    let reply = first;
    for (;;) {
      const next = fiber.interpretation.next(reply);
      if (next.done === true) return this.#finish(fiber, next.value);
      const performed = this.#perform(fiber, next.value);
      if (performed === undefined) return;
      reply = performed.reply;
    }
  }

  /** Performs one command; undefined when its reply comes later. */
  #perform(fiber: Fiber, command: Command): { reply: unknown } | undefined {
    switch (command.kind) {
      case "enter":
        return { reply: this.#enter(fiber, command.place) };
      case "leave":
        this.#work.end(fiber, command.place, command.outcome);
        return { reply: this.#known(fiber, command.place.path) };
      case "check": {
        const outcome = this.#work.check(fiber, command);
        return outcome && { reply: outcome };
      }
      case "run":
        return this.#run(fiber, command);
      case "round":
        return { reply: this.#round(command.place) };
      case "await-resume":
        return this.#wait(fiber, command.place);
      case "await-calls":
        return this.#waitForCalls(fiber, command);
      case "until":
        this.#until(fiber, command);
        return undefined;
      case "limit":
        return { reply: this.#limit(command) };
      case "all":
      case "race":
      case "first":
        return this.#open(fiber, command);
    }
  }

  #known(fiber: Fiber, path: string): Outcome | undefined {
    const state = this.#journal.get(path);
    if (state?.outcome !== undefined) fiber.sequence = Math.max(fiber.sequence, state.sequence);
    return state?.outcome;
  }

  #enter(fiber: Fiber, place: Place): Outcome | undefined {
    const outcome = this.#known(fiber, place.path);
    if (outcome === undefined && !this.#journal.get(place.path)?.started) this.#start(fiber, place);
    return outcome;
  }

  #run(fiber: Fiber, command: RunCommand): { reply: RunReply } | undefined {
    const outcome = this.#known(fiber, command.path);
    if (outcome !== undefined) return { reply: outcome };
    const state = this.#journal.get(command.path);
    if (state?.suspension !== undefined && command.resumeData === undefined)
      return { reply: { kind: "suspended" } };
    if (state !== undefined && state.failures >= command.attempt)
      return { reply: { kind: "retry", attempt: state.failures + 1, at: state.retryAt } };
    const waits = this.#journal.checkpoints?.waitsOf(command.path);
    if (waits !== undefined && waits.count > command.waits)
      return { reply: { kind: "wait", waits: waits.count, at: waits.until } };
    const { place } = command;
    if (command.path === place.path && !state?.started) this.#start(fiber, place);
    this.#work.run(fiber, command);
    return undefined;
  }

  #start(fiber: Fiber, place: Place): void {
    this.#room--;
    this.#work.start(fiber, place);
  }

  /** In the first round the loop's own data counts. */
  #round({ path }: Place): LoopRound | undefined {
    const round = this.#journal.get(path)?.round;
    return round?.number === 0 ? undefined : round;
  }

  #wait(fiber: Fiber, { path }: Place): { reply: Resumption } | undefined {
    const resumption = this.#journal.get(path)?.resumption;
    if (resumption !== undefined) return { reply: resumption };
    this.#waiting.set(path, fiber);
    return undefined;
  }

  /** One that was resumed while the body ran again for another lets it run once more. */
  #waitForCalls(fiber: Fiber, calls: WaitingCalls): { reply: undefined } | undefined {
    const { paths, sleeps = [] } = calls;
    if (paths.some((path) => this.#journal.get(path)?.resumption !== undefined)) return { reply: undefined };
    for (const path of paths) this.#waiting.set(path, fiber);
    this.#calls ??= new Map();
    this.#calls.set(fiber, calls);
    for (const { path, until } of sleeps) this.#work.wait(fiber, path, until);
    return undefined;
  }

  #until(fiber: Fiber, { path, at }: Extract<Command, { kind: "until" }>): void {
    const time = typeof at === "number" ? at : (this.#journal.get(path)?.startedAt ?? 0) + at.after;
    this.#work.wait(fiber, path, time);
  }

  #limit({ place, after }: Extract<Command, { kind: "limit" }>): number {
    const { startedAt = 0, pausedFor = 0 } = this.#journal.get(place.path) ?? {};
    return startedAt + after + pausedFor;
  }

  #open(parent: Fiber, command: BranchesCommand): { reply: Joined } | undefined {
    const join: Join = {
      command,
      parent,
      depth: parent.join === undefined ? 0 : parent.join.depth + 1,
      open: new Map(),
      outcomes: new Array(command.count).fill(undefined),
      opened: 0,
      ended: 0,
      passed: 0,
      decisive: undefined,
      first: undefined,
      opening: false,
      decided: false,
    };
    this.#openMore(join);
    const joined = this.#decide(join);
    return joined && { reply: joined };
  }

  /**
   * Opens branches up to the limit; one that has decided keeps its place, so nothing new starts after it. Every one
   * goes as far as the journal reaches before anything is decided: two may have ended in an earlier life, and then the
   * lower number wins, not the first in the list. A loop, because branches that ended in an earlier life end at once,
   * ten thousand in a row. Of those that are not in the journal only so many are opened before the next commit: the rest
   * comes after it, as if the limit were lower.
   */
  #openMore(join: Join): void {
    const { command, parent } = join;
    join.opening = true;
    while (join.opened < command.count && join.opened - join.passed < command.limit) {
      if (this.#room <= 0 && this.#isNew(command.firstPath(join.opened))) {
        this.#held ??= new Set();
        this.#held.add(join);
        break;
      }
      const index = join.opened++;
      const scope = new AbortScope(parent.scope);
      const fiber: Fiber = { interpretation: command.open(index), scope, join, index, sequence: 0 };
      join.open.set(index, fiber);
      this.#advance(fiber, undefined);
    }
    join.opening = false;
  }

  #isNew(path: string | undefined): boolean {
    return path !== undefined && this.#journal.get(path) === undefined;
  }

  #finish(fiber: Fiber, outcome: Outcome): void {
    const { join } = fiber;
    if (join === undefined) {
      this.#outcome = outcome;
      return;
    }
    fiber.scope.leave();
    join.open.delete(fiber.index);
    join.outcomes[fiber.index] = outcome;
    join.ended++;
    const ended = { outcome, sequence: fiber.sequence };
    if (decides(join.command.kind, outcome)) join.decisive = earlier(join.decisive, ended);
    else join.passed++;
    join.first = earlier(join.first, ended);
    if (join.opening || join.decided) return;
    this.#openMore(join);
    const joined = this.#decide(join);
    if (joined !== undefined) this.#advance(join.parent, joined);
  }

  /** The end of a join: something has decided, or every branch has ended (all succeeded, or in a race all failed). */
  #decide(join: Join): Joined | undefined {
    const everyOne = join.ended === join.command.count ? join.first : undefined;
    const decisive = join.decisive ?? everyOne;
    if (decisive === undefined) return undefined;
    join.decided = true;
    this.#held?.delete(join);
    const reason = join.open.size === 0 ? undefined : abortReason(join.command.kind, decisive.outcome);
    for (const { scope } of join.open.values()) {
      scope.close();
      if (reason !== undefined) this.#work.lost(scope, reason);
    }
    return { outcomes: join.outcomes, decisive: decisive.outcome };
  }
}
