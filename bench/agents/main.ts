// Measures the cost of an agent's stream beside the AI SDK's own stream on a bare route and beside peers, in one run.
import path from "node:path";
import { z } from "zod";
import { uuid } from "../../packages/core/src/values/uuid.ts";
import { type Contender, startContender } from "../http/contender.ts";
import { guarded, installPeers } from "../http/peers.ts";
import { requireBuiltPackages } from "../http/servers.ts";
import { inTemporaryFolder, median } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";
import { now } from "./clock.ts";
import { waitingReplies } from "./waiting.ts";

const rounds = paced({ quick: 3, short: 5, full: 5 });
const deltas = paced({ quick: 5000, short: 5000, full: 10_000 });
const answers = paced({ quick: 10, short: 20, full: 40 });
/** Short replies in a row, where the cost of a turn shows. */
const turns = paced({ quick: 100, short: 200, full: 500 });

/** One way to ask: the path, and the body for a question. */
interface Way {
  readonly name: string;
  readonly path: string;
  readonly body: (question: string) => object;
}

const user = (text: string) => ({ id: uuid(), role: "user", parts: [{ type: "text", text }] });
const chat = "/agents/bench/chat";
const ways: readonly Way[] = [
  { name: "/stream", path: "/agents/bench/stream", body: (input) => ({ input }) },
  { name: "/chat", path: chat, body: (question) => ({ messages: [user(question)] }) },
  {
    name: "/chat in a conversation, resumable",
    path: chat,
    body: (question) => ({ id: uuid(), messages: [user(question)] }),
  },
];

const settings = {
  folder: import.meta.dirname,
  nodeArguments: [],
  database: "none",
  path: () => "/agents/bench/stream",
  body: '{"input":"1 burst"}',
  resume: () => ({ path: "", body: "" }),
};

function start(name: string, script: string): Promise<Contender> {
  return startContender({ ...settings, name, script });
}

/** How each peer is asked for a stream. */
const peerWays: Readonly<Record<string, Way>> = {
  VoltAgent: { name: "/stream", path: "/agents/bench/stream", body: (input) => ({ input }) },
  Mastra: {
    name: "/stream",
    path: "/api/agents/bench/stream",
    body: (content) => ({ messages: [{ role: "user", content }] }),
  },
};

async function startPeer(name: string, folder: string, databases: string): Promise<Contender> {
  const way = peerWays[name];
  return startContender({
    ...settings,
    name,
    folder,
    nodeArguments: guarded,
    script: `${name.toLowerCase()}.mjs`,
    database: name === "VoltAgent" ? "memory" : path.join(databases, "mastra.db"),
    path: () => way?.path ?? "",
    body: JSON.stringify(way?.body("1 burst")),
  });
}

/** The same stream beside a peer's; the peers have no route that tells their processor time, so /proc does. */
async function comparePeer(ours: Contender, peer: Contender, pace: string): Promise<Budget> {
  const [way] = ways;
  const peerWay = peerWays[peer.name];
  if (way === undefined || peerWay === undefined) throw new Error(`${peer.name} has no way to be asked`);
  const ratios: number[] = [];
  const [mine, theirs]: [number[], number[]] = [[], []];
  for (let round = -1; round < rounds; round++) {
    const our = await costByProcess(ours, way, pace);
    const their = await costByProcess(peer, peerWay, pace);
    if (round < 0) continue;
    mine.push(our);
    theirs.push(their);
    ratios.push(our / their);
  }
  const ratio = median(ratios);
  return {
    name: `/stream against ${peer.name}, processor time for a delta, ${pace}`,
    value: `${ratio.toFixed(2)} ×`,
    budget: "at most 0.85 ×",
    held: ratio <= 0.85,
    note: `${median(mine).toFixed(0)} against ${median(theirs).toFixed(0)} µs`,
  };
}

async function costByProcess(contender: Contender, way: Way, pace: string): Promise<number> {
  const before = contender.cpu();
  const text = await (await ask(contender, way, `${deltas} ${pace}`)).text();
  if (text.split("word ").length <= deltas) throw new Error(`${contender.name}: not the whole reply`);
  return ((contender.cpu() - before) * 1000) / deltas;
}

function ask({ port }: Contender, { path, body }: Way, question: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body(question)),
  });
}

/** Every delta of the answer as one text. */
function wordsOf(answer: string): string {
  const frames = answer.split("\n\n").filter((frame) => frame.startsWith("data: {"));
  const parts = frames.map((frame) => JSON.parse(frame.slice("data: ".length)));
  return parts.map(({ type, delta, text }) => (type === "text-delta" ? (delta ?? text) : "")).join("");
}

const usage = z.object({ user: z.number(), system: z.number() });

async function cpuOf({ port }: Contender): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/cpu`);
  const { user, system } = usage.parse(await response.json());
  return user + system;
}

/** Microseconds of processor time for one delta. */
async function costOf(contender: Contender, way: Way, pace: string): Promise<number> {
  const before = await cpuOf(contender);
  const answer = await (await ask(contender, way, `${deltas} ${pace}`)).text();
  const cost = (await cpuOf(contender)) - before;
  if (wordsOf(answer) !== "word ".repeat(deltas)) throw new Error(`${contender.name}: not the whole answer`);
  return cost / deltas;
}

async function compare(ours: Contender, bare: Contender, way: Way, pace: string): Promise<Budget> {
  const [our, their, ratios]: [number[], number[], number[]] = [[], [], []];
  for (let round = -1; round < rounds; round++) {
    const mine = await costOf(ours, way, pace);
    const theirs = await costOf(bare, way, pace);
    // The first one warms up.
    if (round < 0) continue;
    our.push(mine);
    their.push(theirs);
    ratios.push(mine / theirs);
  }
  const ratio = median(ratios);
  const speed = pace === "paced" ? "one for each turn of the event loop" : "as fast as they are read";
  return {
    name: `${way.name}, processor time for a delta, ${speed}`,
    value: `${ratio.toFixed(2)} ×`,
    budget: "at most 1 ×",
    held: ratio <= 1,
    note: `${median(our).toFixed(1)} against ${median(their).toFixed(1)} µs`,
  };
}

/** Milliseconds from the model's first delta to the client. */
async function firstDelta(contender: Contender, way: Way): Promise<number> {
  const reader = (await ask(contender, way, "2 timed")).body?.getReader();
  const decoder = new TextDecoder();
  for (let text = ""; ; ) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) throw new Error("the answer has no delta");
    const arrived = now();
    text += decoder.decode(chunk.value, { stream: true });
    const said = wordsOf(text.slice(0, text.lastIndexOf("\n\n")));
    if (said === "") continue;
    await reader?.cancel();
    return arrived - Number(said);
  }
}

async function latency(ours: Contender, bare: Contender, way: Way): Promise<Budget> {
  const [mine, theirs]: [number[], number[]] = [[], []];
  for (let index = 0; index < answers; index++) {
    mine.push(await firstDelta(ours, way));
    theirs.push(await firstDelta(bare, way));
  }
  return {
    name: `${way.name}, from the model's first delta to the client`,
    value: `${median(mine).toFixed(2)} ms`,
    budget: "within 5 ms",
    held: median(mine) <= 5,
    note: `${median(theirs).toFixed(2)} ms on the bare route`,
  };
}

/** Milliseconds of processor time for one short reply. */
async function costOfReply(contender: Contender, way: Way): Promise<number> {
  const before = await cpuOf(contender);
  for (let index = 0; index < turns; index++) await (await ask(contender, way, "5 burst")).text();
  return ((await cpuOf(contender)) - before) / turns / 1000;
}

/** Milliseconds more for a reply in a conversation on a machine on which one without takes so many; more on a slower one. */
const budgetOfReply = { more: 1.5, without: 3.3 };

/** The cost of a reply that survives its process: message and turn, each call and the end are committed. */
async function durable(ours: Contender): Promise<Budget> {
  const [, plain, kept] = ways;
  if (plain === undefined || kept === undefined) throw new Error("expected a way with a conversation");
  const [without, within, more]: [number[], number[], number[]] = [[], [], []];
  for (let round = -1; round < rounds; round++) {
    const light = await costOfReply(ours, plain);
    const recorded = await costOfReply(ours, kept);
    if (round < 0) continue;
    without.push(light);
    within.push(recorded);
    more.push(recorded - light);
  }
  const limit = Math.max(budgetOfReply.more, (median(without) * budgetOfReply.more) / budgetOfReply.without);
  return {
    name: "a reply in a conversation beside one without, processor time",
    value: `${median(more).toFixed(2)} ms more`,
    budget: `at most ${limit.toFixed(2)} ms more`,
    held: median(more) <= limit,
    note: `${median(within).toFixed(2)} against ${median(without).toFixed(2)} ms; ${budgetOfReply.more} ms where one without takes ${budgetOfReply.without} ms`,
  };
}

requireBuiltPackages();
const [ours, bare] = await Promise.all([start("Andante", "andante.ts"), start("bare Hono route", "bare.ts")]);
const budgets: Budget[] = [];
try {
  for (const way of ways) {
    for (const pace of ["burst", "paced"]) budgets.push(await compare(ours, bare, way, pace));
    budgets.push(await latency(ours, bare, way));
  }
  budgets.push(await durable(ours));
  await inTemporaryFolder(async (folder) => {
    budgets.push(...waitingReplies(folder));
    const peers = installPeers();
    for (const name of Object.keys(peerWays)) {
      const peer = await startPeer(name, peers, folder);
      try {
        for (const pace of ["burst", "paced"]) budgets.push(await comparePeer(ours, peer, pace));
      } finally {
        await peer.stop();
      }
    }
  });
} finally {
  await Promise.all([ours.stop(), bare.stop()]);
}
printBudgets("Agents", budgets);
if (isRecorded) recordBudgets("Agents", "npm run bench:agents", budgets);
process.exitCode = budgets.every((budget) => budget.held) ? 0 : 1;
