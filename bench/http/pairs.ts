// Pairs of a start that suspends and the resume that completes it, beside the peers.
import { randomUUID } from "node:crypto";
import { median } from "../measure.ts";
import type { Budget } from "../results.ts";
import { type Contender, runAlone } from "./contender.ts";
import { type NextRequest, requestText, runRequests } from "./load.ts";

export interface PairsOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUp: number;
}

const connections = 20;
const enough = Number.POSITIVE_INFINITY;

/** How many times as many pairs as each of them. */
const factors: Readonly<Record<string, number>> = { memory: 5, mastra: 6 };

/** Ours, with an id in each start that the caller has chosen. */
const withIds = () => JSON.stringify({ input: { n: 1 }, options: { executionId: randomUUID() } });

/** Starts and resumes in turn, and checks the result of each. */
export function startAndResume({ path, body, resume }: Contender, bodyOf = () => body): () => NextRequest {
  return () => {
    let waits = false;
    return (last) => {
      if (last !== undefined) check(last, waits ? "suspended" : /completed|success/);
      waits = !waits;
      if (waits) return requestText({ path: path("gate"), body: bodyOf() });
      return requestText(resume(idIn(last ?? "")));
    };
  };
}

function check(answer: string, status: string | RegExp): void {
  const [, found = ""] = /"status":"(\w+)"/.exec(answer) ?? [];
  if (typeof status === "string" ? found === status : status.test(found)) return;
  throw new Error(`expected ${status}: ${answer.slice(0, 800)}`);
}

function idIn(answer: string): string {
  const [, id] = /"(?:executionId|runId)":"([^"]+)"/.exec(answer) ?? [];
  if (id === undefined) throw new Error(`an answer without an id: ${answer.slice(0, 800)}`);
  return id;
}

export async function comparePairs(
  contenders: Readonly<Record<string, Contender>>,
  { rounds, seconds, warmUp }: PairsOptions,
): Promise<Budget[]> {
  const measured: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++) {
    for (const key of ["andante", "chosen", ...Object.keys(factors)]) {
      const contender = contenders[key === "chosen" ? "andante" : key];
      if (contender === undefined) throw new Error(`${key} was not started`);
      runAlone(contenders, contender);
      const next = startAndResume(contender, key === "chosen" ? withIds : undefined);
      await runRequests(contender.port, next, connections, enough, warmUp);
      const { perSecond } = await runRequests(contender.port, next, connections, enough, seconds);
      measured[key] = [...(measured[key] ?? []), perSecond / 2];
    }
  }
  const pairs = Object.entries(factors).flatMap(([key, factor]) =>
    ["andante", "chosen"].map((own) => ({ key, factor, own })),
  );
  return pairs.map(({ key, factor, own }) => {
    const ours = median(measured[own] ?? []);
    const theirs = median(measured[key] ?? []);
    const ids = own === "chosen" ? " with ids of the caller" : "";
    return {
      name: `suspend and resume${ids}, against ${contenders[key]?.name}`,
      value: `${(ours / theirs).toFixed(2)} ×`,
      budget: `at least ${factor} ×`,
      held: ours / theirs >= factor,
      note: `${ours.toFixed(0)} against ${theirs.toFixed(0)} pairs/s`,
    };
  });
}
