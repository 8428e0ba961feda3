// The last call of a turn's model is committed together with the end of the turn, and no reader sees it before.
import { tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { controlledModel } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";
import { heldOperation, wrapStore } from "../support/wrapped-store.ts";
import { hello } from "./held-model.ts";
import { all, ask, kept, openStore, said, startProcess, userMessage } from "./processes.ts";

test("a reply is reported complete only after its end is committed", async () => {
  const store = await openStore();
  const endTurn = heldOperation(store.endTurn);
  endTurn.hold();
  const { andante } = startProcess(wrapStore(store, { endTurn: endTurn.run }), { model: hello });
  const types: string[] = [];
  const reading = (async () => {
    for await (const { type } of await ask(andante, "u1")) types.push(type);
  })();
  await inTime(endTurn.asked, "the end of the turn");
  await expect.poll(() => types.at(-1)).toBe("text-end");
  endTurn.release();
  await inTime(reading, "the end of the reply");
  expect(types.slice(-3)).toEqual(["text-end", "finish-step", "finish"]);
});

test("a reply whose end cannot be committed fails, and was never reported complete", async () => {
  const store = await openStore();
  const endTurn = () => Promise.reject(new Error("the disk is gone"));
  const { andante } = startProcess(wrapStore(store, { endTurn }), { model: hello });
  const chunks = await all(await ask(andante, "u1"));
  expect(chunks.at(-1)?.type).toBe("error");
  expect(chunks.map(({ type }) => type)).not.toContain("finish");
});

test("hooks hear of a call when it is committed", async () => {
  const store = await openStore();
  const heard: [string, number][] = [];
  const note = (hook: string) => () => {
    heard.push([hook, process.life.writes]);
  };
  const hooks = { onStepEnd: note("onStepEnd"), onEnd: note("onEnd") };
  const process = startProcess(store, { model: hello, agent: { hooks } });
  await all(await ask(process.andante, "u1"));
  // Message and turn, then the call; the end is a third write.
  expect(heard).toEqual([
    ["onStepEnd", 2],
    ["onEnd", 2],
  ]);
  expect(process.life.writes).toBe(3);
});

test("a reader of `stream` gets the end of a call after its commit, however slowly it reads", async () => {
  const { andante, life } = startProcess(await openStore(), { model: hello });
  const parts = await andante.agents.stream("clerk", [userMessage("u1")], {
    conversationId: "talk",
    userId: "ada",
  });
  const writes = new Map<string, number>();
  for await (const { type } of parts) writes.set(type, life.writes);
  expect(writes.get("finish-step")).toBe(2);
  expect(writes.get("finish")).toBe(3);
});

test("where a function of the host fails before the model is asked, the message stays and can be posted again", async () => {
  let calls = 0;
  const prepare = <T>(messages: readonly T[]): T[] => {
    if (++calls === 1) throw new Error("out of order");
    return [...messages];
  };
  const { andante } = startProcess(await openStore(), { model: hello, agent: { memory: { prepare } } });
  await expect(ask(andante, "u1")).rejects.toMatchObject({ status: 500 });
  expect(await kept(andante)).toEqual([["user", "u1"]]);
  expect(said(await all(await ask(andante, "u1")))).toBe("hello");
  expect(await kept(andante)).toEqual([
    ["user", "u1"],
    ["assistant", "hello"],
  ]);
});

test("a tool begins when the call that asks for it is committed", async () => {
  const store = await openStore();
  const commit = heldOperation(store.commit);
  commit.hold();
  let runs = 0;
  const look = tool({ inputSchema: z.object({}), execute: () => ++runs });
  const model = controlledModel((_, number) =>
    number === 1 ? { text: ["I look. "], calls: [{ name: "look", input: {} }] } : { text: ["done"] },
  );
  const { andante } = startProcess(wrapStore(store, { commit: commit.run }), { model, tools: { look } });
  const types: string[] = [];
  const reading = (async () => {
    for await (const { type } of await ask(andante, "u1")) types.push(type);
  })();
  await inTime(commit.asked, "the commit of the call");
  await expect.poll(() => types).toContain("text-delta");
  expect(types).not.toContain("tool-input-available");
  expect(runs).toBe(0);
  commit.release();
  await inTime(reading, "the end of the reply");
  expect(runs).toBe(1);
});
