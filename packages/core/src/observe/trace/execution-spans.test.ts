// The spans of executions, read back and live, through suspension, restart, failure and cancellation.
import { describe, expect, test } from "vitest";
import { flow, heldBody, onMemory, onMemoryAndFile } from "../../../test/support/test-andante.ts";
import type { Andante } from "../../andante/andante.ts";
import { andThen } from "../../workflow/steps/free-steps.ts";
import type { SpanRecord } from "./span-record.ts";
import { formatTraceparent, parseTraceparent, TraceIds } from "./trace-ids.ts";
import type { SpanEvent } from "./tracing.ts";

/** The spans of an execution's trace by name. */
async function spansOf(andante: Andante, executionId: string): Promise<Map<string, SpanRecord>> {
  const { traces } = await andante.traces.list({ executionId });
  const trace = await andante.traces.read(traces[0]?.traceId ?? "");
  return new Map(trace?.spans.map((span) => [span.name, span]));
}

const eventsOf = (span: SpanRecord | undefined) => span?.events.map(({ name }) => name);

onMemory(({ andante, andanteWith }) => {
  test("execution and steps nest as the workflow does", async () => {
    const workflow = flow()
      .andThen({ id: "first", execute: () => 1 })
      .andAll({
        id: "both",
        steps: [
          andThen({ id: "left", execute: () => 1 }),
          (chain) =>
            chain.andWhen({
              id: "gate",
              condition: () => true,
              step: andThen({ id: "in", execute: () => 2 }),
            }),
        ],
      });
    const here = andante(workflow);
    const { executionId } = await here.execute(workflow.id, {}, { userId: "ada", conversationId: "c1" });
    const spans = await spansOf(here, executionId);
    const root = spans.get(`invoke_workflow ${workflow.id}`);
    expect(root).toMatchObject({
      parentSpanId: null,
      entityType: "workflow",
      entityId: workflow.id,
      executionId,
      status: "ok",
      endTime: expect.stringMatching(/Z$/),
      attributes: {
        "andante.workflow.id": workflow.id,
        "andante.execution.id": executionId,
        "andante.execution.status": "completed",
        "user.id": "ada",
        "gen_ai.conversation.id": "c1",
      },
    });
    const parents = Object.fromEntries(
      [...spans.values()].map(({ name, parentSpanId }) => [
        name,
        [...spans.values()].find(({ spanId }) => spanId === parentSpanId)?.name,
      ]),
    );
    expect(parents).toEqual({
      [`invoke_workflow ${workflow.id}`]: undefined,
      "step first": `invoke_workflow ${workflow.id}`,
      "step both": `invoke_workflow ${workflow.id}`,
      "step both/left": "step both",
      "step both/gate": "step both",
      "step both/gate/in": "step both/gate",
    });
    expect(spans.get("step both/left")?.attributes).toMatchObject({
      "andante.step.path": "both/left",
      "andante.step.type": "andThen",
      "andante.step.index": 1,
    });
    expect(eventsOf(spans.get("step both/gate"))).toEqual(["evaluated"]);
  });

  test("a failure is an event and a status, of the step and of the execution", async () => {
    const workflow = flow().andThen({
      id: "fails",
      execute: () => {
        throw new RangeError("too far");
      },
    });
    const here = andante(workflow);
    const { executionId } = await here.execute(workflow.id, {});
    const spans = await spansOf(here, executionId);
    for (const name of ["step fails", `invoke_workflow ${workflow.id}`]) {
      expect(spans.get(name)).toMatchObject({ status: "error", message: "too far" });
      expect(spans.get(name)?.events).toMatchObject([
        { name: "exception", attributes: { "exception.type": "RangeError", "exception.message": "too far" } },
      ]);
    }
  });

  test("an execution that is cancelled while it has no owner ends its trace too", async () => {
    const workflow = flow().andThen({ id: "gate", execute: ({ suspend }) => suspend() });
    const here = andante(workflow);
    const { executionId } = await here.execute(workflow.id, {});
    const ended = new Promise<SpanRecord>((resolve) => {
      here.traces.follow(({ type, span }) => {
        if (type === "span-end" && span.parentSpanId === null) resolve(span);
      });
    });
    await here.cancel(workflow.id, executionId, { reason: "enough" });
    expect(await ended).toMatchObject({
      executionId,
      attributes: { "andante.execution.status": "cancelled" },
    });
    const spans = await spansOf(here, executionId);
    expect(eventsOf(spans.get("step gate"))).toEqual(["suspended", "abandoned"]);
    expect((await here.traces.list({ executionId })).traces).toMatchObject([{ status: "cancelled" }]);
  });

  test("branches that lost are closed with their container, steps that were gone back over with the rewind", async () => {
    const slow = heldBody(1);
    const race = flow().andRace({
      id: "race",
      steps: [andThen({ id: "quick", execute: () => 1 }), andThen({ id: "slow", execute: slow.execute })],
    });
    const here = andante(race);
    const { executionId } = await here.execute(race.id, {});
    const spans = await spansOf(here, executionId);
    expect(spans.get("step race/slow")).toMatchObject({ status: "unset", events: [{ name: "abandoned" }] });
    slow.finish();

    const twice = flow()
      .andThen({ id: "one", execute: () => 1 })
      .andThen({ id: "two", execute: ({ suspend, resumeData }) => resumeData ?? suspend() });
    const there = andante(twice);
    const waiting = await there.execute(twice.id, {});
    await there.resume(twice.id, waiting.executionId, undefined, { stepId: "one" });
    await there.resume(twice.id, waiting.executionId, 1);
    const { traces } = await there.traces.list({ executionId: waiting.executionId });
    const trace = await there.traces.read(traces[0]?.traceId ?? "");
    const twos = trace?.spans.filter(({ name }) => name === "step two") ?? [];
    expect(twos.map(eventsOf)).toEqual([
      ["suspended", "rewound"],
      ["suspended", "resumed"],
    ]);
    expect(new Set(trace?.spans.map(({ spanId }) => spanId)).size).toBe(trace?.spans.length);
  });

  test("an execution that runs for long is listed before it ends, its open spans without an end", async () => {
    const body = heldBody(1);
    const workflow = flow().andThen({ id: "long", execute: body.execute });
    const here = andante(workflow);
    const started = await here.start(workflow.id, {});
    const { executionId } = started;
    let listed: readonly { readonly status: string }[] = [];
    while (listed.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      listed = (await here.traces.list({ executionId })).traces;
    }
    expect(listed).toMatchObject([{ status: "running", endTime: null }]);
    expect((await spansOf(here, executionId)).get("step long")).toMatchObject({
      endTime: null,
      duration: null,
    });
    body.finish();
    await started.result();
    expect((await here.traces.list({ executionId })).traces).toMatchObject([{ status: "completed" }]);
  });

  test("a body is given the traceparent of its step, to pass on", async () => {
    const given: (string | undefined)[] = [];
    const workflow = flow().andThen({ id: "call", execute: ({ traceparent }) => given.push(traceparent) });
    const here = andante(workflow);
    const { executionId } = await here.execute(workflow.id, {});
    const span = (await spansOf(here, executionId)).get("step call");
    expect(given).toEqual([`00-${span?.traceId}-${span?.spanId}-01`]);
    const there = andanteWith({ tracing: false }, workflow);
    await there.execute(workflow.id, {});
    expect(given[1]).toBeUndefined();
  });

  test.each([1, 30])(
    "a listener that comes after %i steps gets the spans that end from then on, whole",
    async (steps) => {
      const held = heldBody("done");
      const andBefore = Array.from({ length: steps }, (_, index) => ({
        id: `s${index}`,
        execute: () => index,
      }));
      const before = andBefore.reduce(
        (chain, step) => chain.andThen(step),
        flow().andThen({ id: "s", execute: () => 0 }),
      );
      const workflow = before.andThen({ id: "held", execute: held.execute });
      const here = andante(workflow);
      const { executionId, result } = await here.start(workflow.id, {});
      await held.started;
      const events: SpanEvent[] = [];
      here.traces.follow((event) => events.push(event));
      held.finish();
      await result;
      const spans = await spansOf(here, executionId);
      expect(events.map(({ type, span }) => [type, span])).toEqual([
        ["span-end", spans.get("step held")],
        ["span-end", spans.get(`invoke_workflow ${workflow.id}`)],
      ]);
    },
  );

  test("a span processor that throws or never shuts down, and a logger that throws, harm nothing", async () => {
    const fault = (): never => {
      throw new Error("broken");
    };
    const forceFlush = async () => undefined;
    const throwing = { onStart: fault, onEnd: fault, forceFlush, shutdown: async () => undefined };
    const hanging = {
      onStart: () => undefined,
      onEnd: () => undefined,
      forceFlush,
      shutdown: () => new Promise<void>(() => {}),
    };
    const logger = { debug: fault, info: fault, warn: fault, error: fault, child: fault };
    const workflow = flow().andThen({
      id: "speak",
      execute: ({ logger: log }) => {
        log.info({}, "hello");
        return 1;
      },
    });
    const here = andanteWith({ logger, tracing: { processors: [throwing, hanging] } }, workflow);
    const { executionId, status } = await here.execute(workflow.id, {});
    expect(status).toBe("completed");
    expect((await here.logs.list({ executionId })).map(({ msg }) => msg)).toContain("hello");
    const lines = (await here.logs.list({ limit: 1000 })).map(({ msg }) => msg);
    expect(lines).toContain("a span processor of the host failed");
    expect(lines).toContain("the host's logger failed");
    await here.close({ grace: 0 });
  });

  test("tracing: false makes no trace, no header and no span", async () => {
    const workflow = flow().andThen({ id: "one", execute: () => 1 });
    const here = andanteWith({ tracing: false }, workflow);
    const notified: SpanEvent[] = [];
    here.traces.follow((event) => notified.push(event));
    const started = await here.start(workflow.id, {});
    await started.result();
    expect(started.traceparent).toBeUndefined();
    expect(await here.traces.list({ executionId: started.executionId })).toEqual({
      traces: [],
      nextCursor: null,
    });
    expect(notified).toEqual([]);
  });

  test("sample is the share of traces that are made", async () => {
    const workflow = flow().andThen({ id: "one", execute: () => 1 });
    const none = andanteWith({ tracing: { sample: 0 } }, workflow);
    const { executionId, traceparent, result } = await none.start(workflow.id, {});
    await result();
    expect(traceparent).toBeUndefined();
    expect((await none.traces.list({ executionId })).traces).toEqual([]);
    expect(() => andanteWith({ tracing: { sample: 2 } })).toThrow("tracing.sample");
  });
});

// The state that one process leaves for the next goes through the disk: these run on a file, too.
onMemoryAndFile(({ andante }) => {
  test("an execution that is resumed in another process stays in its trace, its caller's if it had one", async () => {
    const workflow = flow()
      .andThen({ id: "before", execute: () => 1 })
      .andThen({
        id: "gate",
        execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend("wait here") : resumeData),
      })
      .andThen({ id: "after", execute: () => 3 });
    const caller = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7", sampled: true };
    const first = andante(workflow);
    const traceparent = formatTraceparent(caller);
    const { executionId } = await first.execute(workflow.id, {}, { traceparent });
    const waiting = await first.traces.list({ executionId });
    expect(waiting.traces).toMatchObject([{ traceId: caller.traceId, status: "suspended", endTime: null }]);
    await first.close({ grace: 0 });

    const second = andante(workflow);
    const notified: SpanEvent[] = [];
    second.traces.follow((event) => notified.push(event));
    const resumed = await second.startResume(workflow.id, executionId, 2, { userId: "bob" });
    await resumed.result();
    const spans = await spansOf(second, executionId);
    expect([...new Set([...spans.values()].map(({ traceId }) => traceId))]).toEqual([caller.traceId]);
    const root = spans.get(`invoke_workflow ${workflow.id}`);
    expect(root?.parentSpanId).toBe(caller.spanId);
    expect(parseTraceparent(resumed.traceparent)).toEqual({ ...caller, spanId: root?.spanId });
    expect(eventsOf(spans.get("step gate"))).toEqual(["suspended", "resumed"]);
    expect(spans.get("step gate")?.events).toMatchObject([
      { attributes: { "andante.suspension.reason": "wait here" } },
      { attributes: { "user.id": "bob" } },
    ]);
    // Published in the second process: the spans that ended there, with the ids that are read back.
    const ended = notified.filter(({ type }) => type === "span-end").map(({ span }) => span);
    expect(ended.map(({ name }) => name)).toEqual([
      "step gate",
      "step after",
      `invoke_workflow ${workflow.id}`,
    ]);
    for (const span of ended) expect(spans.get(span.name)).toEqual(span);
    const { traces } = await second.traces.list({ executionId });
    expect(traces).toMatchObject([{ traceId: caller.traceId, status: "completed" }]);
  });
});

describe("traceparent", () => {
  const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  test("is read and written", () => {
    const parsed = parseTraceparent(good);
    expect(parsed).toEqual({
      traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
      spanId: "00f067aa0ba902b7",
      sampled: true,
    });
    if (parsed !== undefined) expect(formatTraceparent(parsed)).toBe(good);
    expect(parseTraceparent(good.replace(/01$/, "00"))).toMatchObject({ sampled: false });
    expect(parseTraceparent(`cc${good.slice(2)}-what-comes-later`)).toMatchObject({ sampled: true });
  });

  test.each([
    "",
    "x",
    good.toUpperCase(),
    `${good}-more`,
    good.replace("00-", "ff-"),
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    good.slice(0, -1),
    `${good}\n${good}`,
  ])("%j is none", (text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  test("ids are always the same, do not reveal the executionId, and a generated one keeps its time first", () => {
    const id = "0192f0c1-2345-7abc-8def-0123456789ab";
    const ids = new TraceIds(id, undefined);
    expect(new TraceIds(id, undefined)).toEqual(ids);
    expect(ids.traceId).toMatch(/^0192f0c12345[\da-f]{20}$/);
    expect(ids.traceId).not.toContain("0123456789ab");
    expect(ids.spanId(1)).toMatch(/^[\da-f]{16}$/);
    expect(new Set([1, 2, 3].map((sequence) => ids.spanId(sequence))).size).toBe(3);
    expect(new TraceIds("mine", undefined).traceId).toMatch(/^[\da-f]{32}$/);
  });
});
