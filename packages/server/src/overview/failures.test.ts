import { createAndante, createLogger, createWorkflow, memoryStore } from "@andante/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { failedOf, groupFailures, mostFailures, patternOf, readFailures } from "./failures.ts";

type Summary = Parameters<typeof failedOf>[0];

const failed = (
  executionId: string,
  second: number,
  message: string,
  rest: Partial<Summary> = {},
): Summary => ({
  executionId,
  workflowId: "settle",
  status: "error",
  startAt: `2026-01-01T00:00:${String(second).padStart(2, "0")}.000Z`,
  endAt: `2026-01-01T00:01:${String(second).padStart(2, "0")}.000Z`,
  userId: null,
  conversationId: null,
  stepIndex: 0,
  error: { name: "Error", message, step: "post" },
  ...rest,
});

describe("the pattern of a message", () => {
  test.each([
    ["order ord_77120 not found", "order # not found"],
    ["HTTP 503 after 3 tries", "HTTP # after # tries"],
    ["018f3c1e-5a8b-7c12-9d3e-0123456789ab is locked", "# is locked"],
    ["connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED #"],
    ["mail to ada.7@example.com at 2026-01-01T00:00:00.000Z.", "mail to # at #."],
    ["Größe ٣ zu groß", "Größe # zu groß"],
    ["no digits at all: a-b, c_d", "no digits at all: a-b, c_d"],
    ["", ""],
  ])("%s", (message, pattern) => expect(patternOf(message)).toBe(pattern));

  test("is made in linear time and ends after 500 characters", () => {
    expect(patternOf("a".repeat(1_000_000))).toBe("a".repeat(500));
    expect(patternOf(`${"a-".repeat(250)}1`)).toBe("a-".repeat(250));
  });
});

test("groups have the same workflow, step, name and pattern, the largest first", () => {
  const groups = groupFailures(
    [
      failed("e5", 5, "card 4711 declined"),
      failed("e4", 4, "timeout"),
      failed("e3", 3, "card 12 declined"),
      failed("e2", 2, "card 12 declined", { workflowId: "refund" }),
      failed("e1", 1, "card 99 declined", { error: { name: "Error", message: "card 99 declined" } }),
      failed("e0", 0, "card 1 declined", {
        error: { name: "TypeError", message: "card 1 declined", step: "post" },
      }),
    ].map(failedOf),
  );
  expect(groups).toMatchObject([
    {
      workflowId: "settle",
      stepPath: "post",
      name: "Error",
      message: "card # declined",
      count: 2,
      firstAt: "2026-01-01T00:01:03.000Z",
      lastAt: "2026-01-01T00:01:05.000Z",
      executionId: "e5",
    },
    { message: "timeout", count: 1 },
    { workflowId: "refund", count: 1 },
    { stepPath: null, count: 1 },
    { name: "TypeError", count: 1 },
  ]);
});

test("at most a hundred groups are returned", () => {
  const letters = (index: number) => String.fromCharCode(97 + (index % 26), 97 + Math.floor(index / 26));
  const all = Array.from({ length: 120 }, (_, index) => failed(`e${index}`, 1, `failure ${letters(index)}`));
  expect(groupFailures(all.map(failedOf))).toHaveLength(100);
});

test("of more failures than are read the oldest are left out, and the result reports it", async () => {
  const failing = createWorkflow({ id: "failing", input: z.number() }).andThen({
    id: "broken",
    execute: ({ data }) => {
      throw new Error(`number ${data}`);
    },
  });
  const andante = createAndante({
    store: memoryStore(),
    workflows: { failing },
    logger: createLogger({ level: "silent" }),
  });
  onTestFinished(() => andante.close());
  const span = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 600_000) };
  const read = () => readFailures(andante, span, new AbortController().signal);
  const fail = (number: number) => andante.execute("failing", number);
  for (let first = 0; first < mostFailures; first += 500)
    await Promise.all(Array.from({ length: 500 }, (_, index) => fail(first + index)));
  const all = await read();
  expect([all.failed.length, all.complete]).toEqual([mostFailures, true]);
  expect(groupFailures(all.failed)).toMatchObject([{ message: "number #", count: mostFailures }]);
  await fail(mostFailures);
  const newest = await read();
  expect([newest.failed.length, newest.complete]).toEqual([mostFailures, false]);
  await expect(readFailures(andante, span, AbortSignal.abort())).rejects.toThrow();
});
