// Turns of the event loop for long synchronous work, such as parsing or validating a large value.
//
// Such work takes up to half a second: clients that send eight large bodies at once must not block all others for all
// eight. And Node accepts one new connection per turn: with such work in every turn, new clients would wait for as many
// pieces of it. So each piece has a turn without another one, after pending connections. A process has one event loop,
// so the queue belongs to the process and not to one server.
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setImmediate as turn } from "node:timers/promises";

/** Milliseconds for which connections are accepted before one piece of work, while each turn brings one. */
const acceptingTime = 200;

/** Turns of work that continues before one of work that begins: bodies wait, but not for ever. */
const mostInRow = 8;

const waiting: Record<"begin" | "continue", (() => void)[]> = { begin: [], continue: [] };
let isServing = false;

/**
 * Resolves in a turn reserved for the caller. Work that continues comes first: a value that was parsed takes many times
 * the memory of its text, so it is finished before the next one is begun. After eight such turns one of the others follows.
 */
export function ownTurn(work: "begin" | "continue"): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting[work].push(resolve);
  if (!isServing) void serveTurns();
  return promise;
}

async function serveTurns(): Promise<void> {
  isServing = true;
  let inRow = 0;
  while (waiting.begin.length + waiting.continue.length > 0) {
    await connectionsFirst();
    const continues = waiting.continue.length > 0 && (inRow < mostInRow || waiting.begin.length === 0);
    inRow = continues ? inRow + 1 : 0;
    waiting[continues ? "continue" : "begin"].shift()?.();
  }
  isServing = false;
}

async function connectionsFirst(): Promise<void> {
  let accepted = 0;
  const count = () => {
    accepted += 1;
  };
  subscribe("net.server.socket", count);
  const until = performance.now() + acceptingTime;
  let before: number;
  do {
    before = accepted;
    await turn();
  } while (accepted > before && performance.now() < until);
  unsubscribe("net.server.socket", count);
}

/** Milliseconds of work in one turn of the event loop after which more of it waits for another turn. */
const fullAfter = 50;
/** Milliseconds of a piece of work that does not count. */
const negligible = 0.1;
let workedInTurn = 0;

/**
 * Does work at once, or in a later turn when this one is full: many small requests at a time would block all others. It
 * waits neither for long work nor for connections. An error of the work is a rejection in both cases.
 */
export function inTurn<Result>(work: () => Result | Promise<Result>): Result | Promise<Result> {
  if (workedInTurn > fullAfter) return turn().then(() => inTurn(work));
  const begun = performance.now();
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  } finally {
    count(performance.now() - begun);
  }
}

function count(milliseconds: number): void {
  if (milliseconds < negligible) return;
  if (workedInTurn === 0)
    setImmediate(() => {
      workedInTurn = 0;
    });
  workedInTurn += milliseconds;
}
