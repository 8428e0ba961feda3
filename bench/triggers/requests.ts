// Requests from outside: webhooks that are verified and become events, and decisions by links.
import { createHmac } from "node:crypto";
import { createLogger, createWorkflow, type Store } from "@andante/core";
import { serve, standardSignature } from "@andante/server";
import { z } from "zod";
import { LinkTokens } from "../../packages/core/src/link/link-token.ts";
import { median, percentile } from "../measure.ts";
import type { Budget } from "../results.ts";
import { atMost } from "../slowness.ts";
import { noted } from "./workflows.ts";

const key = Buffer.alloc(32, 7);
const secret = `whsec_${key.toString("base64")}`;
const linkSecret = "a secret of more than thirty-two characters";

function signed(id: string, body: string): Headers {
  const at = Math.floor(Date.now() / 1000);
  const signature = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64");
  return new Headers({
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(at),
    "webhook-signature": `v1,${signature}`,
  });
}

/** Microseconds, the median of several runs. */
function microseconds(work: () => unknown): number {
  const count = 500;
  const runs = Array.from({ length: 7 }, () => {
    const begun = performance.now();
    for (let index = 0; index < count; index++) work();
    return ((performance.now() - begun) * 1000) / count;
  });
  return Math.min(...runs);
}

export async function requests(store: Store, count: number): Promise<Budget[]> {
  const body = JSON.stringify({ key: "one", text: "x".repeat(20_000) });
  const bytes = new TextEncoder().encode(body);
  const verify = standardSignature(secret);
  const headers = signed("one", body);
  const verified = microseconds(() => verify({ bytes, headers, now: Date.now() }));
  const tokens = new LinkTokens([linkSecret]);
  const token = tokens.sign({ executionId: "one", path: "gate", visit: "1", expiresAt: 9e15 });
  const read = microseconds(() => tokens.read(token));
  const made: string[] = [];
  const asks = createWorkflow({ id: "asks", input: z.object({}), search: false }).andThen({
    id: "gate",
    execute: ({ link, resumeData, stepPath, suspend }) => {
      if (resumeData !== undefined) return null;
      made.push(link(stepPath, { resume: "yes", label: "Yes" }));
      return suspend("Go on?");
    },
  });
  const server = await serve({
    ...{
      workflows: { asks },
      events: { noted },
      store,
      port: 0,
      hostname: "127.0.0.1",
      handleSignals: false,
      logger: createLogger({ level: "silent" }),
    },
    links: { url: "http://app.example.com", secret: linkSecret },
    receivers: { one: { verify, event: () => noted.from({ key: "one" }) } },
  });
  const receive = async (index: number) => {
    const begun = performance.now();
    const init = { method: "POST", body, headers: signed(`msg-${index}`, body) };
    const response = await fetch(`${server.url}/receive/one`, init);
    await response.arrayBuffer();
    if (response.status !== 202) throw new Error(`a webhook was answered with ${response.status}`);
    return performance.now() - begun;
  };
  const received: number[] = [];
  for (let index = 0; index < count; index++) received.push(await receive(index));
  const decided: number[] = [];
  for (let index = 0; index < count; index++) {
    await server.andante.execute("asks", {});
    const url = server.url + new URL(made.pop() ?? "").pathname;
    const page = await (await fetch(url)).text();
    const form = /name="form" value="([\w-]+)"/.exec(page)?.[1] ?? "";
    const begun = performance.now();
    const response = await fetch(url, { method: "POST", body: new URLSearchParams({ form }) });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`a decision was answered with ${response.status}`);
    decided.push(performance.now() - begun);
  }
  await server.close();
  return [
    {
      name: "verification of a webhook of 20 kB",
      value: `${verified.toFixed(0)} µs`,
      ...atMost(verified, 100, "µs"),
    },
    {
      name: "a webhook of 20 kB by HTTP, with its commit, p99",
      value: `${percentile(received, 0.99).toFixed(0)} ms`,
      ...atMost(percentile(received, 0.99), 50, "ms"),
      note: `p50 ${median(received).toFixed(1)} ms`,
    },
    {
      name: "verification of a link",
      value: `${read.toFixed(0)} µs`,
      ...atMost(read, 100, "µs"),
    },
    {
      name: "a decision by a link over HTTP, with its commit, p99",
      value: `${percentile(decided, 0.99).toFixed(0)} ms`,
      ...atMost(percentile(decided, 0.99), 50, "ms"),
      note: `p50 ${median(decided).toFixed(1)} ms`,
    },
  ];
}
