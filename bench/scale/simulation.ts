// A simulation of one cell: nodes that share a database, under a random load, with the loss of a node or of the database.
//
// An execution waits for a processor of its node, uses it, runs its bodies there, then waits for a processor of the database
// and uses that. Times are in seconds.
import { createRandom } from "../../packages/core/test/support/random.ts";
import { percentile } from "../measure.ts";

export interface CellOptions {
  readonly seed: number;
  /** Executions that arrive each second, at random moments (a Poisson process). */
  readonly arrivals: number;
  /** Seconds for which they arrive. The simulation ends with the last execution. */
  readonly duration: number;
  /** Processor time of an execution at a node. Each node has `width` processors. */
  readonly nodes: { readonly count: number; readonly width: number; readonly time: number };
  /** Time in the bodies of an execution, the same for each; they wait for others and use no processor. Default: none. */
  readonly bodies?: number;
  /** Processor time of an execution at the database that the nodes share. Default: no time. */
  readonly database?: { readonly width: number; readonly time: number };
  /** Whether the times are the same for each execution, or exponentially distributed around their mean. */
  readonly times: "fixed" | "exponential";
  readonly loss?: Loss;
}

export interface Loss {
  readonly of: "node" | "database";
  readonly at: number;
  /** Seconds until the others take over the executions of a lost node. */
  readonly lease: number;
  /** Seconds until it serves again. */
  readonly outage: number;
}

export interface CellResult {
  readonly executions: number;
  /** Mean seconds in queues and outages. */
  readonly meanWait: number;
  /** Seconds in queues and outages: of the executions that ended before the loss, and of those that ended after it. */
  readonly before: Percentiles;
  readonly after: Percentiles;
  /** Executions that the lost node had. */
  readonly orphans: number;
  /** Seconds from the loss to the end of the last of them. */
  readonly takeOver: number;
  /** Executions in the cell at once, at most. */
  readonly backlog: number;
  /** Seconds from the loss until, after the peak, no more executions are in the cell than at most before the loss. */
  readonly drained: number;
}

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

interface Execution {
  readonly arrival: number;
  /** Seconds that it did not wait in a queue. */
  served: number;
  isOrphan: boolean;
}

/** A queue in the order of arrival, before so many processors. */
interface Station {
  readonly width: number;
  readonly time: number;
  readonly waiting: Queue;
  readonly serving: Set<Execution>;
  isUp: boolean;
  /** Where executions go from here; undefined at the last one. */
  readonly next: Station | undefined;
}

export function simulateCell(options: CellOptions): CellResult {
  const { arrivals, duration, nodes, database, times, loss } = options;
  const random = createRandom(options.seed);
  const exponential = (mean: number) => -mean * Math.log(1 - random.next());
  const agenda = new Agenda();
  const last = database && station(database.width, database.time);
  const bodies = (next: Station | undefined) => station(Number.POSITIVE_INFINITY, options.bodies ?? 0, next);
  const all = Array.from({ length: nodes.count }, () => {
    return station(nodes.width, nodes.time, options.bodies === undefined ? last : bodies(last));
  });
  let living = all;
  /** Executions that arrive while no node is up. */
  const outside: Execution[] = [];
  const ended: { readonly at: number; readonly execution: Execution }[] = [];
  let [now, inside, backlog, usual, orphans, takeOver] = [0, 0, 0, 0, 0, 0];
  let drained: number | undefined;

  const count = (change: number) => {
    inside += change;
    if (inside > backlog) {
      backlog = inside;
      drained = undefined;
    }
    if (loss === undefined || now < loss.at) usual = backlog;
    else if (inside <= usual && backlog > usual) drained ??= now - loss.at;
  };
  const serve = (at: Station) => {
    while (at.isUp && at.serving.size < at.width) {
      const execution = at.waiting.shift();
      if (execution === undefined) return;
      const isFixed = times === "fixed" || at.width === Number.POSITIVE_INFINITY;
      const time = isFixed ? at.time : exponential(at.time);
      at.serving.add(execution);
      agenda.add(now + time, () => {
        // Its station was lost meanwhile.
        if (!at.serving.delete(execution)) return;
        execution.served += time;
        if (at.next === undefined) end(execution);
        else enter(at.next, execution);
        serve(at);
      });
    }
  };
  const enter = (at: Station, execution: Execution) => {
    at.waiting.push(execution);
    serve(at);
  };
  const end = (execution: Execution) => {
    count(-1);
    ended.push({ at: now, execution });
    if (execution.isOrphan && loss !== undefined) takeOver = now - loss.at;
  };
  const toSomeNode = (execution: Execution) => {
    const node = random.pick(living);
    if (node === undefined) outside.push(execution);
    else enter(node, execution);
  };
  const arrive = () => {
    if (now > duration) return;
    count(1);
    toSomeNode({ arrival: now, served: 0, isOrphan: false });
    agenda.add(now + exponential(1 / arrivals), arrive);
  };
  const lose = ({ of, lease, outage }: Loss) => {
    const lost = of === "node" ? all[0] : last;
    if (lost === undefined) throw new Error("there is no such station to lose");
    lost.isUp = false;
    living = all.filter(({ isUp }) => isUp);
    const bodiesOfNode = of === "node" && lost.next !== last ? lost.next : undefined;
    const stopped = [lost, bodiesOfNode].flatMap((each) => [
      ...(each?.serving ?? []),
      ...(each?.waiting.clear() ?? []),
    ]);
    lost.serving.clear();
    bodiesOfNode?.serving.clear();
    agenda.add(now + outage, () => {
      lost.isUp = true;
      living = all;
      for (const execution of outside.splice(0)) toSomeNode(execution);
      serve(lost);
    });
    if (of === "database") {
      for (const execution of stopped) lost.waiting.push(execution);
      return;
    }
    orphans = stopped.length;
    for (const execution of stopped) execution.isOrphan = true;
    // A cell of one node has no others: its own restart continues them.
    const wait = all.length === 1 ? outage : lease;
    agenda.add(now + wait, () => {
      for (const execution of stopped) toSomeNode(execution);
    });
  };

  if (loss !== undefined) agenda.add(loss.at, () => lose(loss));
  agenda.add(exponential(1 / arrivals), arrive);
  for (let due = agenda.take(); due !== undefined; due = agenda.take()) {
    now = due.at;
    due.happen();
  }

  const waits = ended.map(({ at, execution }) => ({ at, wait: at - execution.arrival - execution.served }));
  const lostAt = loss?.at ?? Number.POSITIVE_INFINITY;
  return {
    executions: ended.length,
    meanWait: waits.reduce((sum, { wait }) => sum + wait, 0) / waits.length,
    before: percentilesOf(waits.filter(({ at }) => at < lostAt)),
    after: percentilesOf(waits.filter(({ at }) => at >= lostAt)),
    orphans,
    takeOver,
    backlog,
    drained: drained ?? 0,
  };
}

function station(width: number, time: number, next?: Station): Station {
  return { width, time, waiting: new Queue(), serving: new Set(), isUp: true, next };
}

function percentilesOf(waits: readonly { readonly wait: number }[]): Percentiles {
  const values = waits.map(({ wait }) => wait);
  return { p50: percentile(values, 0.5), p99: percentile(values, 0.99) };
}

/** First in, first out, without moving the rest. */
class Queue {
  #items: Execution[] = [];
  #first = 0;

  push(item: Execution): void {
    this.#items.push(item);
  }

  shift(): Execution | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) this.clear();
    else this.#first++;
    return item;
  }

  /** Empties it, and returns the items. */
  clear(): Execution[] {
    const rest = this.#items.slice(this.#first);
    this.#items = [];
    this.#first = 0;
    return rest;
  }
}

interface Due {
  readonly at: number;
  happen(): void;
}

/** What happens next: a binary heap by time. */
class Agenda {
  readonly #heap: Due[] = [];

  add(at: number, happen: () => void): void {
    const heap = this.#heap;
    const due = { at, happen };
    let place = heap.push(due) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = heap[above];
      if (other === undefined || other.at <= at) break;
      heap[place] = other;
      place = above;
    }
    heap[place] = due;
  }

  take(): Due | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const moved = heap.pop();
    if (moved === undefined || moved === first) return first;
    let place = 0;
    for (;;) {
      const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]];
      const isLeft = right === undefined || (left !== undefined && left.at <= right.at);
      const smaller = isLeft ? left : right;
      if (smaller === undefined || smaller.at >= moved.at) break;
      heap[place] = smaller;
      place = 2 * place + (isLeft ? 1 : 2);
    }
    heap[place] = moved;
    return first;
  }
}
