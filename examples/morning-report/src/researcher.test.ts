// The report of each morning: on workdays at seven in Berlin, in one conversation, made up once after a night without a process.
import { createAndante, memoryStore, type Store } from "@andante/core";
import { type ScriptedTurn, scriptedModel, TestClock } from "@andante/core/test";
import { demoModel } from "@andante/demo-model";
import type { LanguageModel } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { researcherWith } from "./researcher.ts";

const talk = { conversationId: "river-reports", userId: "ada" };
const search: ScriptedTurn = { toolCalls: [{ toolName: "findNews", input: { topic: "rivers" } }] };

function open(model: LanguageModel, clock: TestClock, store: Store = memoryStore()) {
  const topics: string[] = [];
  const researcher = researcherWith(model, async (topic) => [`The ${topic} rise (${topics.push(topic)})`]);
  const andante = createAndante({ agents: { researcher }, store, clock });
  onTestFinished(() => andante.close({ grace: 0 }));
  const texts = async () => {
    const { messages } = await andante.conversations.messages(talk.conversationId, { limit: 100 });
    return messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
    );
  };
  return { andante, texts, topics };
}

/** A Thursday, at noon in Berlin. */
const clockOf = () => new TestClock({ start: new Date("2027-03-25T11:00:00Z"), skipSleeps: false });

test("reports on workdays, also when the clocks have changed, and answers questions about them", async () => {
  const clock = clockOf();
  const model = scriptedModel([search, "It rises.", search, "It falls.", "On Friday."]);
  const { andante, texts, topics } = open(model, clock);
  await andante.ready();
  clock.advanceTo(new Date("2027-03-26T06:00:00Z"));
  const friday = "Find the news about rivers and report what is new on 2027-03-26.";
  await expect.poll(texts).toEqual([friday, "It rises."]);
  // On Sunday the clocks of Berlin are put forward.
  clock.advanceTo(new Date("2027-03-29T04:59:59Z"));
  await andante.settled();
  expect(topics).toHaveLength(1);
  clock.advanceTo(new Date("2027-03-29T05:00:00Z"));
  await expect.poll(texts).toHaveLength(4);
  const { text } = await andante.agents.text("researcher", "When did it rise?", talk);
  expect(text).toBe("On Friday.");
  expect(await texts()).toHaveLength(6);
});

test("a morning without a process has its report once one starts", async () => {
  const clock = clockOf();
  const store = memoryStore();
  await store.open();
  onTestFinished(() => store.close());
  const stays = async () => undefined;
  const shared = { ...store, open: stays, close: stays };
  const first = open(scriptedModel([]), clock, shared);
  await first.andante.ready();
  await first.andante.close();
  clock.advanceTo(new Date("2027-03-26T09:00:00Z"));
  const second = open(scriptedModel([search, "It rises."]), clock, shared);
  await second.andante.ready();
  await expect.poll(second.texts).toEqual([expect.stringContaining("2027-03-26"), "It rises."]);
});

test("the demo model reports too", async () => {
  const clock = clockOf();
  const { andante, texts, topics } = open(demoModel(), clock);
  await andante.ready();
  clock.advanceTo(new Date("2027-03-26T06:00:00Z"));
  await expect.poll(async () => (await texts()).length).toBe(2);
  expect(topics).toHaveLength(1);
});
