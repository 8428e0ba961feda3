// npm run bench:scale: the machines that 10 000, 100 000 and 1 000 000 executions a second take, from the measured cost of
// one, and simulations of a cell of each kind under the loss of a node or of the database. Prints the tables of
// docs/scale.md; nothing is measured.
import { type CellOptions, type CellResult, type Loss, simulateCell } from "./simulation.ts";

/** The share of a processor that is planned to be busy. */
const planned = 0.6;

// Processor time of an execution of three steps without HTTP, in seconds, measured on two cores.
const sqlite = { node: 0.00034 };
const postgres = { node: 0.00042, database: 0.00057, databaseCores: 8 };
/** Time in the group commits of a shard, by which it is bound, and the processor time of node and server. */
const restate = { shard: 1 / 420, processors: 0.003 };

const rates = [10_000, 100_000, 1_000_000];
const up = (value: number) =>
  Math.ceil(value - 1e-9)
    .toLocaleString("en")
    .replaceAll(",", " ");

function printMachines(): void {
  console.log(`| Executions/s | SQLite | PostgreSQL | Restate |\n| --- | --- | --- | --- |`);
  for (const rate of rates) {
    const shard = (postgres.databaseCores * planned) / postgres.database;
    const cells = [
      `${up((rate * sqlite.node) / planned)} nodes, each with its file`,
      `${up(rate / shard)} databases of ${postgres.databaseCores} cores, ${up((rate * postgres.node) / planned)} nodes`,
      `${up((rate * restate.shard) / planned)} shards, ${up((rate * restate.processors) / planned)} cores`,
    ];
    console.log(`| ${up(rate)} | ${cells.join(" | ")} |`);
  }
}

interface Cell {
  readonly name: string;
  readonly options: Omit<CellOptions, "seed" | "arrivals" | "duration" | "times" | "loss">;
  /** Executions a second of its bottleneck. */
  readonly capacity: number;
  readonly losses: Readonly<Record<string, Omit<Loss, "at">>>;
}

/** Seconds in the bodies of an execution: three calls of a model, say. */
const bodies = 2;
/** The default lease, and the second within which others see that it has ended. */
const lease = 11;

const cells: readonly Cell[] = [
  {
    name: "SQLite, one node",
    options: { nodes: { count: 1, width: 1, time: sqlite.node } },
    capacity: 1 / sqlite.node,
    losses: { "node, back after 5 s": { of: "node", lease, outage: 5 } },
  },
  {
    name: "PostgreSQL, 6 nodes",
    options: {
      nodes: { count: 6, width: 1, time: postgres.node },
      database: { width: postgres.databaseCores, time: postgres.database },
    },
    capacity: postgres.databaseCores / postgres.database,
    losses: {
      "a node": { of: "node", lease, outage: 60 },
      "the primary, replaced after 25 s": { of: "database", lease, outage: 25 },
    },
  },
  {
    name: "Restate, one shard, 2 nodes",
    options: {
      nodes: { count: 2, width: 1, time: restate.processors / 2 },
      database: { width: 1, time: restate.shard },
    },
    capacity: 1 / restate.shard,
    losses: {
      "a node": { of: "node", lease, outage: 60 },
      "a server, replaced after 2 s": { of: "database", lease, outage: 2 },
    },
  },
];

function printSimulations(): void {
  console.log(
    "| Cell | Load | Executions/s | Lost | Wait before (p50, p99) | Wait after (p50, p99) | Take-over | Backlog | Drained after |",
  );
  console.log(`|${" --- |".repeat(9)}`);
  for (const { name, options, capacity, losses } of cells)
    for (const [lost, loss] of Object.entries(losses))
      for (const load of [planned, 0.8]) {
        const arrivals = Math.round(capacity * load);
        const result = simulateCell({
          ...options,
          bodies,
          seed: 1,
          arrivals,
          // Long enough for the backlog of the longest outage.
          duration: loss.of === "node" ? 60 : 140,
          times: "exponential",
          loss: { ...loss, at: 10 },
        });
        const fields = [name, `${load * 100} %`, up(arrivals), lost, ...fieldsOf(result)];
        console.log(`| ${fields.join(" | ")} |`);
      }
}

function fieldsOf({ before, after, orphans, takeOver, backlog, drained }: CellResult): string[] {
  return [
    `${milliseconds(before.p50)}, ${milliseconds(before.p99)}`,
    `${milliseconds(after.p50)}, ${milliseconds(after.p99)}`,
    orphans === 0 ? "–" : `${up(orphans)} in ${takeOver.toFixed(1)} s`,
    up(backlog),
    `${drained.toFixed(1)} s`,
  ];
}

function milliseconds(seconds: number): string {
  return seconds < 1 ? `${(seconds * 1000).toFixed(1)} ms` : `${seconds.toFixed(1)} s`;
}

printMachines();
console.log();
printSimulations();
