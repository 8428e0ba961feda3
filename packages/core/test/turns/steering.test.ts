// Messages that reach a reply while it is made: with the next call of its model, in the reply itself, and once, whatever happens
// to the process.
import { readUIMessageStream, tool, type UIMessageChunk } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import type { Andante } from "../../src/andante/andante.ts";
import type { Store } from "../../src/store/store.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { crashPoints } from "../support/crash-points.ts";
import { inTime } from "../support/in-time.ts";
import { sharedStore } from "../support/shared-store.ts";
import { all, ask, openStore, said, startProcess, userMessage } from "./processes.ts";

type Prompt = Parameters<Parameters<typeof controlledModel>[0]>[0]["prompt"];

/** The texts of the user that a call reads. */
function userTexts(prompt: Prompt): string[] {
  return prompt.flatMap(({ role, content }) =>
    role === "user" ? content.map((part) => (part.type === "text" ? part.text : "")) : [],
  );
}

/** Looks something up, held until it is let on, and replies with all that the user has said. */
function lookingModel() {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const model = controlledModel(({ prompt }) => {
    if (prompt.at(-1)?.role === "user" && userTexts(prompt).length === 1)
      return {
        text: ["Wait."],
        calls: [{ name: "look", input: {} }],
        hold: () => {
          asked.resolve();
          return gate.promise;
        },
      };
    return { text: [userTexts(prompt).join(", ")] };
  });
  return { model, asked: asked.promise, go: () => gate.resolve() };
}

const tools = { look: tool({ inputSchema: z.object({}), execute: () => "seen" }) };

function steer(andante: Andante, messageId: string, userId = "ada") {
  const talk = { conversationId: "talk", userId, whenBusy: "steer" as const };
  return andante.agents.chat("clerk", [userMessage(messageId)], talk);
}

const queued = async (andante: Andante) => (await andante.agents.queue("clerk", "talk")).map(({ id }) => id);

/** The messages with the kinds of their parts; those of steering messages with their texts. */
async function outline(andante: Andante) {
  const { messages } = await andante.conversations.messages("talk");
  return messages.map(({ role, parts }) => [role, ...parts.map(partOf)]);
}

function partOf(part: { readonly type: string }): string {
  if ("text" in part) return String(part.text);
  if (part.type !== "steering-message" || !("parts" in part)) return part.type;
  return `> ${JSON.parse(JSON.stringify(part.parts))[0].text}`;
}

const steered = [
  ["user", "u1"],
  ["assistant", "step-start", "Wait.", "tool-look", "> u2", "step-start", "u1, u2"],
];

async function lastMessage(chunks: readonly UIMessageChunk[]) {
  let last: unknown;
  for await (const message of readUIMessageStream({ stream: ReadableStream.from(chunks) })) last = message;
  return last;
}

test.each([1, 2])("the next call of the model reads a message that steers (%i processes)", async (count) => {
  const store = await openStore();
  const { model, asked, go } = lookingModel();
  const join = count === 1 ? () => store : sharedStore(store);
  const first = startProcess(join(), { model, tools }).andante;
  const second = count === 1 ? first : startProcess(join(), { model, tools }).andante;
  await second.ready();
  const reply = all(await ask(first, "u1"));
  await inTime(asked, "the first call");
  const steering = steer(second, "u2").then(all);
  await expect.poll(() => queued(second)).toEqual(["u2"]);
  go();
  const chunks = await reply;
  expect(said(chunks)).toBe("Wait.u1, u2");
  const parts = [{ type: "text", text: "u2" }];
  expect(chunks).toContainEqual({ type: "steering-message", id: "u2", parts });
  expect(await lastMessage(chunks)).toMatchObject({
    parts: expect.arrayContaining([{ type: "steering-message", id: "u2", parts }]),
  });
  expect(said(await steering), "its caller reads the same reply").toBe("Wait.u1, u2");
  expect(await outline(first)).toEqual(steered);
  expect(await queued(second)).toEqual([]);
  expect(model.asked).toHaveLength(2);
  await all(await ask(first, "u3"));
  expect(userTexts(model.asked.at(-1)?.prompt ?? []), "the next turn knows it").toEqual(["u1", "u2", "u3"]);
});

test("a reply that was about to end continues with the message", async () => {
  const store = await openStore();
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const model = controlledModel(({ prompt }, number) => ({
    text: [`re ${userTexts(prompt).join(" ")}`],
    hold: () => {
      if (number > 1) return undefined;
      asked.resolve();
      return gate.promise;
    },
  }));
  const { andante } = startProcess(store, { model });
  const reply = all(await ask(andante, "u1"));
  await asked.promise;
  const steering = [steer(andante, "u2").then(all)];
  await expect.poll(() => queued(andante)).toEqual(["u2"]);
  steering.push(steer(andante, "u3").then(all));
  await expect.poll(() => queued(andante)).toEqual(["u2", "u3"]);
  gate.resolve();
  const whole = "re u1re u1 u2 u3";
  expect(said(await reply)).toBe(whole);
  expect((await Promise.all(steering)).map(said)).toEqual([whole, whole]);
  expect(await outline(andante)).toEqual([
    ["user", "u1"],
    ["assistant", "step-start", "re u1", "> u2", "> u3", "step-start", "re u1 u2 u3"],
  ]);
});

test("a message that no call reads any more gets a reply of its own", async () => {
  const store = await openStore();
  const { model, asked, go } = lookingModel();
  const agent: Partial<AgentOptions> = { maxSteps: 1 };
  const { andante } = startProcess(store, { model, tools, agent });
  const reply = all(await ask(andante, "u1"));
  await inTime(asked, "the first call");
  const steering = steer(andante, "u2").then(all);
  await expect.poll(() => queued(andante)).toEqual(["u2"]);
  go();
  expect(said(await reply)).toBe("Wait.");
  expect(said(await steering)).toBe("u1, u2");
  expect((await outline(andante)).map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant"]);
});

test("one behind a reply that waits for approval ends the wait, as other messages do", async () => {
  const store = await openStore();
  const { model, asked, go } = lookingModel();
  const agent: Partial<AgentOptions> = { toolApproval: { look: "user-approval" } };
  const { andante } = startProcess(store, { model, tools, agent });
  const reply = all(await ask(andante, "u1"));
  await inTime(asked, "the first call");
  const steering = steer(andante, "u2").then(all);
  await expect.poll(() => queued(andante)).toEqual(["u2"]);
  go();
  expect((await reply).map(({ type }) => type)).toContain("tool-approval-request");
  expect(said(await steering)).toBe("u1, u2");
});

test("a message that steers is withdrawn while it waits; without a reply it begins one", async () => {
  const store = await openStore();
  const { model, asked, go } = lookingModel();
  const { andante } = startProcess(store, { model, tools });
  const reply = all(await ask(andante, "u1"));
  await inTime(asked, "the first call");
  const steering = expect(steer(andante, "u2")).rejects.toMatchObject({ code: "message-withdrawn" });
  await expect.poll(() => queued(andante)).toEqual(["u2"]);
  await andante.agents.withdraw("clerk", "talk", "u2");
  await steering;
  go();
  expect(said(await reply)).toBe("Wait.u1");
  expect(said(await all(await steer(andante, "u3")))).toBe("u1, u3");
});

/** A reply that is steered in its first step; the process may end at one of its writes. */
async function steeredReply(store: Store, crash?: { write: number; variant: "lost" | "unacknowledged" }) {
  const { model, asked, go } = lookingModel();
  const first = startProcess(store, { model, tools, ...(crash && { crash }) });
  await first.andante.ready();
  const reply = ask(first.andante, "u1").then(all);
  const steering = asked.then(() => steer(first.andante, "u2")).then(all);
  for (const each of [reply, steering]) each.catch(() => undefined);
  await inTime(asked, "the first call");
  await expect.poll(() => queued(first.andante)).toEqual(["u2"]);
  go();
  await (crash === undefined ? reply : first.life.crash);
  await first.end();
  return first.life.writes;
}

test("after a crash at any write the model reads the message once, at the same place", {
  timeout: 60_000,
}, async () => {
  const writes = await steeredReply(await openStore());
  // Message and turn, the first call, the tool, the message that steers, and the last call with the end.
  expect(writes).toBe(5);
  for (const { write, variant } of crashPoints({ first: 2, last: writes })) {
    const store = await openStore();
    await steeredReply(store, { write, variant });
    const { model, go } = lookingModel();
    go();
    const second = startProcess(store, { model, tools });
    await second.andante.ready();
    const where = `write ${write} ${variant}`;
    await expect.poll(() => outline(second.andante), { message: where }).toEqual(steered);
    expect(await queued(second.andante), where).toEqual([]);
    expect(await store.liveTurn("talk"), where).toBeUndefined();
    for (const { prompt } of model.asked.slice(-1))
      expect(userTexts(prompt), where).toEqual(prompt.at(-1)?.role === "user" ? ["u1", "u2"] : ["u1"]);
    await second.end();
  }
});
