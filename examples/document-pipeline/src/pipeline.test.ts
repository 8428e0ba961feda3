// The loop ends when the judge is content, or after three rounds; a failed fetch is retried; no call is paid twice.
import { createAndante, memoryStore } from "@andante/core";
import { scriptedModel, TestClock } from "@andante/core/test";
import { demoModel } from "@andante/demo-model";
import type { LanguageModel } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { pipelineWith } from "./pipeline.ts";

function open(model: LanguageModel, failures = 0) {
  const kept: string[] = [];
  let reads = 0;
  const digest = pipelineWith(model, {
    async read() {
      if (reads++ < failures) throw new Error("the server is busy");
      return "A long text.";
    },
    async keep(_, summary) {
      kept.push(summary);
    },
  });
  const andante = createAndante({ workflows: { digest }, store: memoryStore(), clock: new TestClock() });
  onTestFinished(() => andante.close());
  return { andante, kept };
}

const rated = (score: number) => ({ object: { score, advice: `now ${score}` } });

test("the second summary is good enough", async () => {
  const model = scriptedModel(["First.", rated(4), "Second.", rated(9)]);
  const { andante, kept } = open(model, 2);
  const { result } = await andante.execute("digest", { address: "a" });
  expect(result).toEqual({ summary: "Second.", score: 9, rounds: 2 });
  expect(kept).toEqual(["Second."]);
  // The judge's remark is in the second question.
  expect(JSON.stringify(model.calls[2]?.prompt)).toContain("now 4");
});

test("after three rounds the last one is taken", async () => {
  const rounds = [1, 2, 3].flatMap((score) => [`Try ${score}.`, rated(score)]);
  const { andante } = open(scriptedModel(rounds));
  const { result } = await andante.execute("digest", { address: "a" });
  expect(result).toEqual({ summary: "Try 3.", score: 3, rounds: 3 });
});

test("a document that cannot be read ends it, with the reason in its events", async () => {
  const { andante } = open(scriptedModel([]), 100);
  const { status, executionId } = await andante.execute("digest", { address: "a" });
  expect(status).toBe("error");
  const events = await andante.events("digest", executionId);
  expect(events.filter(({ type }) => type === "step-retry")).toHaveLength(3);
  expect(JSON.stringify(events)).toContain("the server is busy");
});

test("the demo model runs it too", async () => {
  const { andante } = open(demoModel());
  const { status, result } = await andante.execute("digest", { address: "a" });
  expect([status, result?.summary.length]).toEqual(["completed", expect.any(Number)]);
});
