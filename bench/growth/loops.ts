// Loops that wait in every round: the cost of a resume depends on the live state, not on the number of rounds.
import path from "node:path";
import { createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { z } from "zod";
import { AndanteService } from "../../packages/core/src/andante/andante-service.ts";
import { median } from "../measure.ts";
import { paced } from "../pace.ts";
import type { Budget } from "../results.ts";
import { processorTime } from "./processor-time.ts";

/** Events of a round that does not wait: a start, an outcome and a condition. */
const eventsPerRound = 3;

/** Goes round until it has come to `from`, and waits in every round from then on. */
const loop = createWorkflow({ id: "loop", input: z.object({ n: z.number(), from: z.number() }) }).andDoWhile({
  id: "loop",
  condition: () => true,
  step: (chain) =>
    chain.andThen({
      id: "ask",
      execute: ({ data, suspend, resumeData }) => {
        if (data.n >= data.from && resumeData === undefined) return suspend("next");
        return { ...data, n: data.n + 1 };
      },
    }),
});

function open(file: string, memory?: number): AndanteService {
  const options = {
    workflows: { loop },
    store: sqliteStore({ path: file }),
    logger: createLogger({ level: "error" }),
    limits: { journal: { events: 1_000_000 } },
  };
  return new AndanteService(options, memory === undefined ? {} : { memory });
}

export async function loops(folder: string): Promise<Budget[]> {
  return [
    ...(await besideShort(path.join(folder, "loops.db"))),
    await lastAgainstFirst(path.join(folder, "suspensions.db")),
  ];
}

/** A loop of many events beside one of a hundred, resumed in turn; from memory, and with nothing held there. */
async function besideShort(file: string): Promise<Budget[]> {
  const events = paced({ quick: 5000, short: 100_000, full: 100_000 });
  const resumes = paced({ quick: 100, short: 300, full: 600 });
  const first = open(file);
  const begin = (count: number) => first.execute("loop", { n: 0, from: Math.ceil(count / eventsPerRound) });
  const long = (await begin(events)).executionId;
  const short: string[] = [];
  // A resume adds five events: one that was resumed a few times is no longer short.
  for (let index = 0; index < 2 * resumes; index++) short.push((await begin(100)).executionId);
  await first.close();
  const budgets: Budget[] = [];
  for (const [how, memory] of [
    ["", undefined],
    [", with nothing held in memory", 0],
  ] as const) {
    const andante = open(file, memory);
    const timed = (id: string) => processorTime(() => andante.resume("loop", id, 1));
    // The first run compiles and reads code, which counts for neither.
    for (let round = 0; round < 50; round++) await timed(long);
    const times = { long: [] as number[], short: [] as number[] };
    for (const executionId of short.splice(0, resumes)) {
      await andante.state("loop", executionId);
      if (memory === undefined) await timed(executionId);
      times.short.push(await timed(executionId));
      times.long.push(await timed(long));
    }
    await andante.close();
    const ratio = median(times.long) / median(times.short);
    budgets.push({
      name: `resuming a loop at ${events} events against 100${how}`,
      value: `${ratio.toFixed(2)} ×`,
      budget: "at most 2 ×",
      held: ratio <= 2,
      note: `${median(times.long).toFixed(2)} against ${median(times.short).toFixed(2)} ms of processor`,
    });
  }
  return budgets;
}

/** The last of many suspensions in turn with the first of another loop, so that other load affects both alike. */
async function lastAgainstFirst(file: string): Promise<Budget> {
  const count = paced({ quick: 500, short: 5000, full: 5000 });
  const part = Math.ceil(count / 20);
  const andante = open(file);
  const begin = async () => (await andante.execute("loop", { n: 0, from: 0 })).executionId;
  const timed = (id: string) => processorTime(() => andante.resume("loop", id, 1));
  const old = await begin();
  for (let round = part; round < count; round++) await timed(old);
  const young = await begin();
  const times = { old: [] as number[], young: [] as number[] };
  for (let round = 0; round < part; round++) {
    times.young.push(await timed(young));
    times.old.push(await timed(old));
  }
  await andante.close();
  const [first, last] = [median(times.young), median(times.old)];
  return {
    name: `loop of ${count} suspensions, the last ${part} against the first ${part} of another`,
    value: `${(last / first).toFixed(2)} ×`,
    budget: "at most 1.5 ×",
    held: last / first <= 1.5,
    note: `${last.toFixed(2)} against ${first.toFixed(2)} ms of processor`,
  };
}
