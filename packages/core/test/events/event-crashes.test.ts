// Events while processes crash, and applications without any.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createAndante, createWorkflow, defineEvent, memoryStore } from "../../src/index.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import { wrapStore } from "../support/wrapped-store.ts";

const paid = defineEvent({
  name: "paid",
  data: z.object({ id: z.string(), n: z.number() }),
  key: ({ data }) => data.id,
});
const input = z.object({ n: z.number() });

describe("a crash at every write", () => {
  test("an event of a body is sent once, and taken by the wait that follows", {
    timeout: 60_000,
  }, async () => {
    const workflow = createWorkflow({ id: "self", input })
      .andThen({
        id: "send",
        execute: ({ data, send, executionId }) => {
          send(paid, { id: executionId, n: data.n });
          return executionId;
        },
      })
      .andWaitFor({ id: "wait", event: paid, key: ({ data }) => data })
      .andThen({ id: "end", execute: ({ data }) => data.n });
    const report = await crashTest({ workflow, input: { n: 7 } });
    expect(report.expected).toMatchObject({ status: "completed", result: 7 });
    expect(report.differences).toEqual([]);
    // Creation, sends, deliveries and looks are among them.
    expect(report.runs.length).toBeGreaterThan(12);
  });

  test("a loop takes each of its events once", { timeout: 60_000 }, async () => {
    const workflow = createWorkflow({ id: "rounds", input }).andDoWhile({
      id: "loop",
      step: (chain) =>
        chain
          .andThen({
            id: "send",
            execute: ({ data, send, executionId }) => {
              send(paid, { id: executionId, n: data.n + 1 });
              return executionId;
            },
          })
          .andWaitFor({ id: "wait", event: paid, key: ({ data }) => data })
          .andThen({ id: "next", execute: ({ data }) => ({ n: data.n }) }),
      condition: ({ data }) => data.n < 2,
    });
    const report = await crashTest({ workflow, input: { n: 0 } });
    expect(report.expected).toMatchObject({ status: "completed", result: { n: 2 } });
    expect(report.differences).toEqual([]);
  });
});

test("an application without events asks the store for none, and commits as before", async () => {
  const calls: string[] = [];
  const inner = memoryStore();
  await inner.open();
  const signals = new Proxy(inner.signals, {
    get: (target, name) => {
      calls.push(`signals.${String(name)}`);
      return Reflect.get(target, name);
    },
  });
  const store = wrapStore(inner, {
    signals,
    commit: (commit) => {
      calls.push(`commit ${Object.keys(commit).includes("sends")}`);
      return inner.commit(commit);
    },
    due: (query) => {
      if ("signals" in query) calls.push("due with events");
      return inner.due(query);
    },
  });
  const workflow = createWorkflow({ id: "plain", input })
    .andThen({ id: "ask", execute: ({ resumeData, suspend }) => resumeData ?? suspend("answer") })
    .andThen({ id: "end", execute: () => "done" });
  const andante = createAndante({ workflows: { workflow }, store });
  const { executionId, status } = await andante.execute("plain", { n: 1 });
  expect(status).toBe("suspended");
  expect((await andante.resume("plain", executionId, "yes")).result).toBe("done");
  await andante.settled();
  await andante.close();
  expect(new Set(calls)).toEqual(new Set(["commit false"]));
  await inner.close();
});
