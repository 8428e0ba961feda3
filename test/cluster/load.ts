// Clients of the cluster: each carries one execution to its end, over whichever nodes respond.
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import type { Random } from "../../packages/core/test/support/random.ts";
import type { Cluster } from "./cluster.ts";
import { loadWorkflows } from "./node/workflows.ts";

export interface LoadOptions {
  readonly cluster: Cluster;
  readonly random: Random;
  readonly executions: number;
  /** Whether to continue beyond that number. */
  more(): boolean;
  /** Clients at once. */
  readonly clients: number;
  /** The workflows, in turn. Default: `loadWorkflows`. */
  readonly workflows?: readonly string[];
  /** Milliseconds after which an execution counts as stuck. On a machine that does nothing for us, nothing is: see below. */
  readonly patience: number;
  onEnd?(): void;
  onResponse?(response: Responded): void;
}

export interface Responded {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

export interface Started {
  readonly executionId: string;
  readonly workflowId: string;
  /** The result that the client received; undefined when it received none. */
  readonly told: { readonly status: string; readonly result: unknown } | undefined;
}

/** Milliseconds that a client waits for a response before it asks another node: a frozen one never responds. */
const clientPatience = 4000;
const between = 50;
/** Those that wait for a resume. */
const gates: readonly string[] = ["gate", "asked"];

const responseSchema = z.object({
  success: z.literal(true),
  data: z.object({ status: z.string(), result: z.unknown() }),
});
type Told = z.infer<typeof responseSchema>["data"];

/** Resolves when every client is at its end. */
export async function runLoad(options: LoadOptions): Promise<Started[]> {
  const started: Started[] = [];
  const numbers = numbersOf(options);
  const client = async () => {
    for (const n of numbers) {
      started.push(await carry(n, options, () => started.length));
      options.onEnd?.();
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  return started;
}

/** The same executions again, to their ends: a fail-over has set them back. */
export async function carryAgain(all: readonly Started[], options: LoadOptions): Promise<Started[]> {
  let ended = 0;
  const rest = all.values();
  const again: Started[] = [];
  const client = async () => {
    for (const { executionId } of rest) {
      again.push(await carry(numberOf(executionId), options, () => ended));
      ended++;
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  return again;
}

/** The number in the input of an execution of the load. */
export function numberOf(executionId: string): number {
  return Number(executionId.split("-").at(-1));
}

function* numbersOf({ executions, more }: LoadOptions): Generator<number> {
  for (let n = 0; n < executions || more(); n++) yield n;
}

/**
 * An execution is stuck when it does not end while as many others do as there are clients. Where nothing ends at all the
 * machine may have no time for the nodes: that is stuck after five times as long.
 */
function isStuck(
  since: { readonly at: number; readonly ended: number },
  ended: number,
  options: LoadOptions,
) {
  const waited = performance.now() - since.at;
  const othersEnd = ended - since.ended >= options.clients;
  return waited > options.patience * (othersEnd ? 1 : 5);
}

async function carry(n: number, options: LoadOptions, ended: () => number): Promise<Started> {
  const { workflows = loadWorkflows } = options;
  const workflowId = workflows[n % workflows.length] ?? "chain";
  const executionId = `${workflowId}-${n}`;
  // The same each time: an execution of the same id with another input is refused.
  const work = (n * 37) % 81;
  const since = { at: performance.now(), ended: ended() };
  const ask = (path: string, body: unknown) => post(options, `/workflows/${workflowId}/${path}`, body);
  while (!isStuck(since, ended(), options)) {
    // The same id again: a start that was made waits for the execution, wherever it runs now.
    const told = await ask("execute", { input: { n, work }, options: { executionId } });
    if (told === undefined) await wait(between);
    else if (told.status === "suspended" && gates.includes(workflowId))
      await ask(`executions/${executionId}/resume`, { resumeData: true });
    else if (told.status === "suspended" || told.status === "running") await wait(between);
    else return { executionId, workflowId, told };
  }
  return { executionId, workflowId, told: undefined };
}

/** Undefined when the node is down, does not respond or refuses. */
async function post(
  { cluster, random, onResponse }: LoadOptions,
  path: string,
  body: unknown,
): Promise<Told | undefined> {
  const node = random.pick(cluster.nodes);
  try {
    const response = await fetch(`${node?.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(clientPatience),
    });
    const { status, headers } = response;
    const text = await response.text();
    onResponse?.({ status, retryAfter: headers.get("retry-after"), text });
    return responseSchema.safeParse(JSON.parse(text)).data?.data;
  } catch {
    return undefined;
  }
}
