import { createAndante, createLogger, createWorkflow, memoryStore } from "@andante/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { failedOf, groupFailures, mostFailures, patternOf, readFailures } from "./failures.ts";

type Row = Parameters<typeof failedOf>[0];

const start = Date.parse("2026-01-01T00:00:00.000Z");

const failed = (
  executionId: string,
  second: number,
  message: string,
  { error, ...rest }: Partial<Omit<Row, "error">> & { readonly error?: object } = {},
): Row => ({
  executionId,
  workflowId: "settle",
  startAt: start + second * 1000,
  endAt: start + 60_000 + second * 1000,
  userId: null,
  conversationId: null,
  definition: "first-definition",
  error: JSON.stringify(error ?? { name: "Error", message, step: "post" }),
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

test("a group names the definitions of its executions, that of the newest first", () => {
  const groups = groupFailures(
    [
      failed("e4", 4, "timeout", { definition: null }),
      failed("e3", 3, "timeout", { definition: "second-definition" }),
      failed("e2", 2, "timeout"),
      failed("e1", 1, "timeout", { definition: "second-definition" }),
    ].map(failedOf),
  );
  expect(groups).toMatchObject([{ count: 4, definitions: ["second-definition", "first-definition"] }]);
  const many = Array.from({ length: 30 }, (_, n) => failed(`e${n}`, n, "timeout", { definition: `d${n}` }));
  const [group] = groupFailures(many.map(failedOf));
  expect(group?.definitions).toEqual(Array.from({ length: 20 }, (_, n) => `d${29 - n}`));
});

test("a group by its id is alone and lists its newest executions, by the time of the failure", () => {
  const rows = [
    // Began last, and failed before the next one.
    failed("e3", 3, "card 4711 declined", { endAt: start + 4000 }),
    failed("e2", 2, "card 12 declined", { definition: null }),
    failed("e1", 1, "timeout"),
  ].map(failedOf);
  const groups = groupFailures(rows);
  expect(groups.map((group) => group.executions)).toEqual([undefined, undefined]);
  const [card, timeout] = groups;
  expect(groupFailures(rows, card?.id)).toEqual([
    {
      ...card,
      executions: [
        { executionId: "e2", at: "2026-01-01T00:01:02.000Z", definition: null },
        { executionId: "e3", at: "2026-01-01T00:00:04.000Z", definition: "first-definition" },
      ],
    },
  ]);
  expect(card).toMatchObject({ executionId: "e2", firstAt: "2026-01-01T00:00:04.000Z" });
  expect(groupFailures(rows, timeout?.id)).toMatchObject([{ executions: [{ executionId: "e1" }] }]);
  expect(groupFailures(rows, "unknown")).toEqual([]);
  // The id is of the error, and not of the executions that failed with it.
  const later = groupFailures([failed("e9", 9, "card 99 declined")].map(failedOf));
  expect(later[0]?.id).toBe(card?.id);
});

test("of the executions of a group the newest hundred are listed, beyond the hundred largest groups too", () => {
  const many = Array.from({ length: 150 }, (_, n) => failed(`e${n}`, n, `card ${n} declined`));
  const [card] = groupFailures(many.map(failedOf));
  const [whole] = groupFailures(many.map(failedOf), card?.id);
  expect([whole?.count, whole?.executions?.length]).toEqual([150, 100]);
  expect(whole?.executions?.[0]?.executionId).toBe("e149");
  const others = Array.from({ length: 120 }, (_, n) => failed(`o${n}`, 1, "same", { workflowId: `w-${n}` }));
  const last = groupFailures(others.slice(-1).map(failedOf))[0];
  expect(groupFailures(others.map(failedOf), last?.id)).toMatchObject([{ workflowId: "w-119", count: 1 }]);
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
