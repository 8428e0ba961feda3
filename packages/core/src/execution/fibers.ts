// Advances interpretations against the journal: what is known is handed back at once, what is not becomes work.
//
// A fiber is one interpretation under way; andAll and andRace open one for each branch. Nothing here does I/O: the
// work to do is handed to `Work`, and the driver comes back with `reply` when it is done and committed.
import type { JsonText } from "../workflow/json.ts";
import { AbortScope } from "./abort-scope.ts";
import type { Command, Interpretation, Joined, Place, RunCommand, RunReply } from "./interpreter/commands.ts";
import type { Journal, Outcome } from "./journal.ts";

export interface Fiber {
  readonly interpretation: Interpretation;
  readonly scope: AbortScope;
  /** The branches it is one of; undefined for the whole workflow. */
  readonly join: Join | undefined;
  readonly index: number;
  /** The highest number of an outcome it has consumed: tells which of two branches ended first. */
  sequence: number;
}

interface Join {
  readonly kind: "all" | "race";
  readonly parent: Fiber;
  readonly branches: Fiber[];
  readonly outcomes: (Outcome | undefined)[];
  decided: boolean;
}

/** What the fibers ask the driver to do. */
export interface Work {
  /** Record that a step or container starts. */
  start(fiber: Fiber, place: Place): void;
  /** Record how a container ended. */
  end(fiber: Fiber, place: Place, outcome: Outcome): void;
  /** Run a user function once its start is committed, then `reply`. */
  run(fiber: Fiber, command: RunCommand): void;
  /** Hold a value against a schema; answers at once, or undefined and a `reply` later. */
  check(fiber: Fiber, command: Extract<Command, { kind: "check" }>): Outcome | undefined;
  /** Abort the signals of branches that lost, once that is committed. */
  lost(scope: AbortScope): void;
}

export class Fibers {
  readonly root: AbortScope = new AbortScope();
  readonly #journal: Journal;
  readonly #work: Work;
  /** Fibers that wait for an answer, by the path of the suspension. */
  readonly #waiting = new Map<string, Fiber>();
  #outcome: Outcome | undefined;

  constructor(journal: Journal, work: Work) {
    this.#journal = journal;
    this.#work = work;
  }

  /** How the whole workflow ended, once it has. */
  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  begin(interpretation: Interpretation): void {
    this.#advance({ interpretation, scope: this.root, join: undefined, index: 0, sequence: 0 }, undefined);
  }

  /** Goes on with a fiber whose work is done. `sequence` numbers the outcome it gets. */
  reply(fiber: Fiber, reply: RunReply | Outcome, sequence: number): void {
    if (fiber.scope.closed) return;
    fiber.sequence = Math.max(fiber.sequence, sequence);
    this.#advance(fiber, reply);
  }

  /** An answer has been journaled: the fiber that waits for it goes on. */
  answer(path: string): void {
    const fiber = this.#waiting.get(path);
    const answer = this.#journal.get(path)?.answer;
    if (fiber === undefined || answer === undefined) return;
    this.#waiting.delete(path);
    if (!fiber.scope.closed) this.#advance(fiber, answer);
  }

  #advance(fiber: Fiber, first: unknown): void {
    let reply = first;
    for (;;) {
      const next = fiber.interpretation.next(reply);
      if (next.done === true) return this.#finish(fiber, next.value);
      const answered = this.#perform(fiber, next.value);
      if (answered === undefined) return;
      reply = answered.reply;
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
      case "answer":
        return this.#wait(fiber, command.place);
      case "all":
      case "race":
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
    if (outcome === undefined && !this.#journal.get(place.path)?.started) this.#work.start(fiber, place);
    return outcome;
  }

  #run(fiber: Fiber, command: RunCommand): { reply: RunReply } | undefined {
    const outcome = this.#known(fiber, command.path);
    if (outcome !== undefined) return { reply: outcome };
    const state = this.#journal.get(command.path);
    if (state?.suspension !== undefined && command.answer === undefined)
      return { reply: { kind: "suspended" } };
    const { place } = command;
    if (command.path === place.path && !state?.started) this.#work.start(fiber, place);
    this.#work.run(fiber, command);
    return undefined;
  }

  #wait(fiber: Fiber, { path }: Place): { reply: JsonText } | undefined {
    const answer = this.#journal.get(path)?.answer;
    if (answer !== undefined) return { reply: answer };
    this.#waiting.set(path, fiber);
    return undefined;
  }

  #open(parent: Fiber, command: Extract<Command, { kind: "all" | "race" }>): { reply: Joined } | undefined {
    const join: Join = { kind: command.kind, parent, branches: [], outcomes: [], decided: true };
    for (const [index, interpretation] of command.branches.entries()) {
      const scope = new AbortScope(parent.scope);
      join.branches.push({ interpretation, scope, join, index, sequence: 0 });
      join.outcomes.push(undefined);
    }
    // Every branch goes as far as the journal reaches before anything is decided: two may have ended in an earlier life,
    // and then the lower number wins, not the first in the list.
    for (const branch of join.branches) this.#advance(branch, undefined);
    join.decided = false;
    const joined = this.#decide(join);
    return joined && { reply: joined };
  }

  #finish(fiber: Fiber, outcome: Outcome): void {
    const { join } = fiber;
    if (join === undefined) {
      this.#outcome = outcome;
      return;
    }
    fiber.scope.leave();
    join.outcomes[fiber.index] = outcome;
    if (join.decided) return;
    const joined = this.#decide(join);
    if (joined !== undefined) this.#advance(join.parent, joined);
  }

  #decide(join: Join): Joined | undefined {
    const decisive = earliest(join, join.kind === "all" ? isFailure : isSuccess) ?? whenAllEnded(join);
    if (decisive === undefined) return undefined;
    join.decided = true;
    for (const branch of join.branches) {
      if (join.outcomes[branch.index] !== undefined) continue;
      branch.scope.close();
      this.#work.lost(branch.scope);
    }
    return { outcomes: join.outcomes, decisive };
  }
}

const isFailure = (outcome: Outcome) => outcome.kind === "error";
const isSuccess = (outcome: Outcome) => outcome.kind !== "error";

/** The outcome that came first of those that count. */
function earliest(join: Join, counts: (outcome: Outcome) => boolean): Outcome | undefined {
  let found: { outcome: Outcome; sequence: number } | undefined;
  for (const branch of join.branches) {
    const outcome = join.outcomes[branch.index];
    if (outcome === undefined || !counts(outcome)) continue;
    if (found === undefined || branch.sequence < found.sequence)
      found = { outcome, sequence: branch.sequence };
  }
  return found?.outcome;
}

/** Once every branch has ended without a decision: all succeeded, or all failed (the first failure speaks). */
function whenAllEnded(join: Join): Outcome | undefined {
  return join.outcomes.includes(undefined) ? undefined : earliest(join, () => true);
}
