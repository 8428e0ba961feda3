// Calls of one node of the cluster, for tests that choose the node.
import { expect } from "vitest";
import { EventReader } from "../support/event-reader.ts";
import { call, dataOf, type Fields, postOf, type TestResponse } from "../support/responses.ts";
import type { Cluster } from "./cluster.ts";
import type { Started } from "./load.ts";
import type { NodeProcess } from "./node-process.ts";
import { type BodyLine, readBodies } from "./side-log.ts";

export interface Named {
  readonly workflowId: string;
  readonly executionId: string;
}

/** Starts an execution on this node and returns at once. Each of its bodies works for `work` milliseconds. */
export async function startOn(
  node: NodeProcess,
  named: Named,
  work: number,
  headers: Record<string, string> = {},
): Promise<void> {
  const body = { input: { n: 1, work }, options: { executionId: named.executionId } };
  const url = `${node.url}/workflows/${named.workflowId}/execute`;
  dataOf(await call(url, postOf(body, { prefer: "respond-async", ...headers })), 202);
}

export function resumeOn(node: NodeProcess, named: Named, resumeData: unknown): Promise<TestResponse> {
  const resume = () => call(`${pathOf(node, named)}/resume`, postOf({ resumeData }, {}));
  // A kept connection that the node closed at that moment: the request was not read.
  return resume().catch(resume);
}

export async function stateOn(node: NodeProcess, named: Named): Promise<Fields> {
  return dataOf(await call(`${pathOf(node, named)}/state`));
}

/** Attaches to the stream of an execution, after the event with this number. */
export async function followOn(
  node: NodeProcess,
  named: Named,
  after?: string,
  token: Record<string, string> = {},
): Promise<EventReader> {
  const headers = { ...token, ...(after !== undefined && { "last-event-id": after }) };
  return new EventReader(await fetch(`${pathOf(node, named)}/stream`, { headers }), "with-ids");
}

/** Resolves when they have ended, as this node sees it. */
export async function endOn(node: NodeProcess, all: readonly Named[]): Promise<Started[]> {
  return Promise.all(
    all.map(async (named) => {
      const stream = await followOn(node, named);
      if (stream.status !== 204) await stream.rest();
      const { status, result } = await stateOn(node, named);
      return { ...named, told: { status: String(status), result } };
    }),
  );
}

/** Polls the side log until the runs of bodies are as wanted. */
export async function bodiesUntil(
  cluster: Cluster,
  wanted: (lines: BodyLine[]) => boolean,
): Promise<BodyLine[]> {
  const options = { timeout: 60_000, interval: 10 };
  await expect.poll(() => wanted(readBodies(cluster.log)), options).toBe(true);
  return readBodies(cluster.log);
}

function pathOf(node: NodeProcess, { workflowId, executionId }: Named): string {
  return `${node.url}/workflows/${workflowId}/executions/${executionId}`;
}
