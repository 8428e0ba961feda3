// Compaction: one summary beside a reply, seen by the replies after it, through crashes, stops and failures.
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Store } from "../../src/store/store.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { crashPoints } from "../support/crash-points.ts";
import { sharedStore } from "../support/shared-store.ts";
import { all, ask, kept, openStore, type ProcessOptions, startProcess } from "./processes.ts";

const compact = { above: 60, keep: 1 };
const isSummary = ({ prompt }: LanguageModelV4CallOptions) =>
  prompt.some(
    ({ role, content }) => role === "system" && String(content).includes("record of a conversation"),
  );
const text = (prompt: LanguageModelV4CallOptions["prompt"]) =>
  prompt.map(
    ({ role, content }) => `${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`,
  );

/** Replies to questions, and summarises with a number. */
function writer(hold?: (call: LanguageModelV4CallOptions) => unknown) {
  let summaries = 0;
  return controlledModel((call) => {
    const said = isSummary(call) ? `Summary ${++summaries}.` : "A reply of some words, long enough to count.";
    return { text: [said], hold: (piece: number) => (piece === 0 ? hold?.(call) : undefined) };
  });
}

function start(store: Store, options: Partial<ProcessOptions> = {}) {
  const { model = writer(), agent, ...others } = options;
  return {
    model,
    store,
    ...startProcess(store, { model, agent: { memory: { compact }, ...agent }, ...others }),
  };
}

/** The summaries that the conversation holds. */
async function summaries({ andante }: Pick<ReturnType<typeof start>, "andante">) {
  const { messages } = await andante.conversations.messages("talk");
  return messages.flatMap(({ summary, parts }) => (summary === undefined ? [] : [{ ...summary, parts }]));
}

async function talk(process: Pick<ReturnType<typeof start>, "andante">, ...questions: string[]) {
  for (const question of questions) await all(await ask(process.andante, question));
}

test("a summary is made once, beside the reply, and the next reply sees it", async () => {
  const process = start(await openStore());
  await talk(process, "u1", "u2", "u3");
  const { model, andante } = process;
  expect(model.asked.filter(isSummary)).toHaveLength(1);
  const made = { from: "u1", messages: 4, parts: [{ type: "text", text: "Summary 1." }] };
  expect(await summaries(process)).toMatchObject([made]);
  // The reply beside it saw the messages themselves.
  const beside = model.asked.filter((call) => !isSummary(call)).at(-1);
  expect(beside?.prompt.filter(({ role }) => role === "user")).toHaveLength(3);
  expect((await kept(andante)).map(([role]) => role).join(" ")).toBe(
    "user assistant user assistant system user assistant",
  );

  await talk(process, "u4");
  const seen = model.asked.at(-1)?.prompt ?? [];
  expect(seen.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  expect(text(seen)[1]).toContain("Summary 1.");
  expect(model.asked.filter(isSummary)).toHaveLength(1);
  const { usage } = await andante.conversations.read("talk");
  expect(usage).toMatchObject({ calls: 5, totalTokens: 75 });
});

test("the next summary continues the last one in the words of the assistant", async () => {
  const process = start(await openStore());
  await talk(process, "u1", "u2", "u3", "u4", "u5", "u6");
  const [, second] = process.model.asked.filter(isSummary);
  const prompt = text(second?.prompt ?? []);
  expect(prompt.filter((line) => line.includes("Summary 1."))).toEqual([
    expect.stringMatching(/^assistant: .*Summary 1\./),
  ]);
  expect(await summaries(process)).toMatchObject([
    { from: "u1", messages: 4 },
    { from: "u1", parts: [{ text: "Summary 2." }] },
  ]);
});

test("a removed summary lets the model see the messages again, until another one is due", async () => {
  const process = start(await openStore());
  const { andante, model } = process;
  await talk(process, "u1", "u2", "u3");
  const { messages } = await andante.conversations.messages("talk");
  const id = messages.find(({ summary }) => summary !== undefined)?.id ?? "";
  await expect(andante.conversations.removeSummary("talk", "u1")).rejects.toMatchObject({
    code: "summary-not-found",
  });
  await expect(andante.conversations.removeSummary("talk", id, { userId: "bob" })).rejects.toMatchObject({
    code: "summary-not-found",
  });
  await andante.conversations.removeSummary("talk", id);
  expect(await summaries(process)).toEqual([]);
  await talk(process, "u4");
  const reply = model.asked.filter((call) => !isSummary(call)).at(-1);
  expect(reply?.prompt.filter(({ role }) => role === "user")).toHaveLength(4);
  expect(await summaries(process)).toMatchObject([{ from: "u1", upTo: expect.anything(), messages: 6 }]);
});

test("calls of tools are summarised with their results, with the definitions of the tools", async () => {
  const look = tool({ description: "Looks", inputSchema: z.object({}), execute: () => "found" });
  const store = await openStore();
  const model = controlledModel((call, number) => {
    if (isSummary(call)) return { text: ["Summary."] };
    return number === 1
      ? { calls: [{ id: "t", name: "look", input: {} }] }
      : { text: ["A reply of some words."] };
  });
  const process = start(store, { model, tools: { look, other: look } });
  await talk(process, "u1", "u2", "u3");
  const asked = model.asked.find(isSummary);
  expect(asked?.tools).toMatchObject([{ type: "function", name: "look", description: "Looks" }]);
  expect(asked?.toolChoice).toEqual({ type: "none" });
  expect(asked?.prompt.map(({ role }) => role).join(" ")).toContain("user assistant tool assistant user");
});

test("a summary that fails is reported, harms no reply, and is made beside the next one", async () => {
  const store = await openStore();
  let fails = true;
  const model = controlledModel((call) => {
    if (!isSummary(call)) return { text: ["A reply of some words, long enough to count."] };
    return fails ? { refuse: new Error("no") } : { text: ["Summary."] };
  });
  const process = start(store, { model });
  await talk(process, "u1", "u2", "u3");
  expect(process.logger.messages).toEqual(["a conversation could not be summarized"]);
  expect(await summaries(process)).toEqual([]);
  expect((await kept(process.andante)).at(-1)).toEqual([
    "assistant",
    "A reply of some words, long enough to count.",
  ]);
  fails = false;
  await talk(process, "u4");
  expect(await summaries(process)).toHaveLength(1);
});

test("a reply that is stopped stops its summary", async () => {
  const began = Promise.withResolvers<AbortSignal | undefined>();
  const never = new Promise<void>(() => undefined);
  const model = writer((call) => {
    if (isSummary(call)) began.resolve(call.abortSignal);
    return text(call.prompt).some((line) => line.includes("u3")) ? never : undefined;
  });
  const process = start(await openStore(), { model });
  await talk(process, "u1", "u2");
  const reply = await ask(process.andante, "u3");
  const read = all(reply).catch(() => undefined);
  const signal = await began.promise;
  await process.andante.agents.stop("clerk", "talk", { userId: "ada" });
  await read;
  expect(signal?.aborted).toBe(true);
  await expect.poll(async () => (await process.store.liveTurn("talk")) === undefined).toBe(true);
  expect(await summaries(process)).toEqual([]);
});

test("after a crash at any write there is one summary, and its recorded call is not made again", {
  timeout: 120_000,
}, async () => {
  const run = async (crash?: ProcessOptions["crash"]) => {
    const store = await openStore();
    const before = start(store);
    await talk(before, "u1", "u2");
    await before.end();
    const first = start(store, crash && { crash });
    await first.andante.ready();
    const read = ask(first.andante, "u3")
      .then(all)
      .catch(() => undefined);
    if (crash === undefined) {
      await read;
      return { writes: first.life.writes, found: await summaries(first), calls: first.model.asked.length };
    }
    await first.life.crash;
    await first.end();
    await read;
    const live = await store.liveTurn("talk");
    const events = live && (await store.events({ executionId: live.executionId, after: 0, limit: 100 }));
    const isRecorded = events?.some(({ path }) => path?.includes("summary.call[0]")) === true;
    const second = start(store);
    await second.andante.ready();
    await expect.poll(async () => (await store.liveTurn("talk")) === undefined).toBe(true);
    if ((await kept(second.andante)).length < 6) await talk(second, "u3");
    const again = second.model.asked.filter(isSummary).length;
    if (isRecorded) expect(again, JSON.stringify(crash)).toBe(0);
    const found = await summaries(second);
    expect((await second.andante.conversations.read("talk")).usage.calls, JSON.stringify(crash)).toBe(4);
    await second.end();
    return { found, writes: 0, calls: 0 };
  };
  const whole = await run();
  expect(whole.found).toHaveLength(1);
  expect(whole.calls).toBe(2);
  for (const { write, variant } of crashPoints({ last: whole.writes }))
    expect((await run({ write, variant })).found, `${write} ${variant}`).toMatchObject([
      { from: "u1", messages: 4 },
    ]);
});

test("messages to two nodes at once make one summary", async () => {
  const join = sharedStore(await openStore());
  const [model, memory] = [writer(), { compact }];
  const [a, b] = [join(), join()].map((store) => startProcess(store, { model, agent: { memory } }));
  if (a === undefined || b === undefined) throw new Error("two nodes");
  await talk(a, "u1", "u2");
  await Promise.all([talk(a, "u3"), talk(b, "u4")]);
  // The first of the two makes it, and the other one sees it.
  expect(model.asked.filter(isSummary)).toHaveLength(1);
  expect(await summaries(a)).toMatchObject([{ from: "u1", messages: 4 }]);
  expect(await summaries(b)).toEqual(await summaries(a));
});

test("150 messages and replies stay within the window, with one summary for many of them", {
  timeout: 120_000,
}, async () => {
  const store = await openStore();
  const words =
    "Twenty words or so, to fill the window of this conversation quickly, and then some more of them to be sure.";
  const model = controlledModel((call) => ({ text: [isSummary(call) ? "The gist of it." : words] }));
  const process = start(store, { model, agent: { memory: { compact: { above: 1_000, keep: 8 } } } });
  for (let turn = 0; turn < 150; turn++) await all(await ask(process.andante, `u${turn} ${words}`));
  const sizes = model.asked.map(({ prompt }) => JSON.stringify(prompt).length / 4);
  expect(model.asked.length - 150).toBeGreaterThan(6);
  expect(model.asked.length - 150).toBeLessThan(18);
  // The bound, one turn more, and the names of fields in a prompt.
  expect(Math.max(...sizes)).toBeLessThan(2_000);
  const last = model.asked.at(-1);
  expect(text(last?.prompt ?? []).join("\n")).toContain("The gist of it.");
});

test.each([
  [{ above: 0 }, "memory.compact.above must be 1 or more"],
  [{}, "memory.compact.above must be 1 or more"],
  [{ above: 10, keep: 0 }, "memory.compact.keep must be 1 or more"],
  [{ above: 10, keep: 101 }, "memory.compact.keep must be at most half of memory.window"],
  [{ above: 10, with: {} }, "memory.compact.with is not a language model"],
  [{ above: 10, model: "x" }, "model"],
])("compact %o is refused", async (wrong, problem) => {
  const store = await openStore();
  expect(() => start(store, { agent: { memory: { compact: Object(wrong) } } })).toThrow(problem);
});
