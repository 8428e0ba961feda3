// Long executions: their fold is kept in a form that later events are added to. If any part of it is missing or
// cannot be read, they continue as if it had never been.
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { AndanteService } from "../../src/andante/andante-service.ts";
import { type FoldOptions, Folds } from "../../src/execution/engine/folds.ts";
import { Journal, replayEvents } from "../../src/journal/journal.ts";
import { packJournal, TextNumbers } from "../../src/journal/packed-journal.ts";
import { pageOf } from "../../src/journal/read-journal.ts";
import { Observation } from "../../src/observe/observation.ts";
import type { SpanRecord } from "../../src/observe/trace/span-record.ts";
import type { EventsQuery, Snapshot, Store } from "../../src/store/store.ts";
import { crashTestWith } from "../../src/test-kit/crash-test.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import type { WorkflowDefinition } from "../../src/workflow/step.ts";
import { inTime } from "../support/in-time.ts";
import { flow, onMemory } from "../support/test-andante.ts";
import { wrapStore } from "../support/wrapped-store.ts";

/** A snapshot at every idle, and nothing held in memory. */
const always: FoldOptions = { minEvents: 0, minGrowth: 0, memory: 0 };
const never: FoldOptions = { minEvents: Number.POSITIVE_INFINITY, memory: 0 };

const counting = z.object({ n: z.number() });

/** Asks in every round; `note` runs before the loop and sets state for later rounds. */
function asking(rounds: number) {
  return flow(counting)
    .andThen({
      id: "note",
      execute: ({ data, setState }) => {
        setState({ noted: data.n });
        return data;
      },
    })
    .andDoWhile({
      id: "loop",
      condition: ({ data }) => data.n < rounds,
      step: (chain) =>
        chain.andThen({
          id: "ask",
          execute: ({ data, suspend, resumeData, setState }) => {
            if (resumeData === undefined) return suspend("next", { round: data.n });
            setState({ last: data.n });
            return { n: data.n + 1 };
          },
        }),
    })
    .andThen({
      id: "see",
      execute: ({ data, getStepData, state }) => ({
        data,
        state,
        newest: getStepData("ask"),
        early: getStepData("loop[0]/ask")?.output ?? null,
        late: getStepData(`loop[${rounds - 2}]/ask`)?.output,
      }),
    });
}

onMemory((bench) => {
  const made = (workflow: WorkflowDefinition, folds: FoldOptions, store: Store = wrapStore(bench.store)) =>
    new AndanteService({ store, logger: bench.logger, workflows: { workflow } }, folds);

  /** Runs to the end, each resume in a process of its own. */
  const throughLives = async (workflow: WorkflowDefinition, folds: FoldOptions, rounds: number) => {
    const first = made(workflow, folds);
    const { executionId } = await first.execute(workflow.id, { n: 0 });
    await first.close();
    for (let round = 1; round < rounds; round++) {
      const next = made(workflow, folds);
      await next.resume(workflow.id, executionId, round);
      await next.close();
    }
    const last = made(workflow, folds);
    const result = await last.resume(workflow.id, executionId, rounds);
    await last.close();
    return { executionId, result };
  };

  test("an execution continues across snapshots as it does without", async () => {
    const workflow = asking(5);
    const kept = await throughLives(workflow, always, 5);
    const plain = await throughLives(workflow, never, 5);
    expect(kept.result.status).toBe("completed");
    expect(kept.result.result).toEqual(plain.result.result);
    expect(kept.result.result).toMatchObject({
      state: { noted: 0, last: 4 },
      newest: { input: { n: 4 }, output: { n: 5 } },
      early: { n: 1 },
      late: { n: 4 },
    });
    const types = async (executionId: string) =>
      (await bench.store.events({ executionId, after: 0, limit: 1000 })).map(({ type, path }) => [
        type,
        path,
      ]);
    expect(await types(kept.executionId)).toEqual(await types(plain.executionId));
  });

  test("the snapshot and the read events of a loop stay constant, however often it has gone round", async () => {
    const workflow = asking(1_000_000);
    const lengths: number[] = [];
    let read = 0;
    const watched = wrapStore(bench.store, {
      events: async (query: EventsQuery) => {
        const events = await bench.store.events(query);
        read += events.length;
        return events;
      },
      keepSnapshot: (snapshot: Snapshot) => {
        lengths.push(snapshot.body.length);
        return bench.store.keepSnapshot(snapshot);
      },
    });
    const folds = { minEvents: 50, minGrowth: 5000 };
    const first = made(workflow, folds, watched);
    const { executionId } = await first.execute(workflow.id, { n: 0 });
    for (let round = 1; round <= 220; round++) await first.resume(workflow.id, executionId, round);
    // In memory: nothing is read again.
    expect(read).toBe(0);
    await first.close();
    const [before = 0, last = 0] = lengths.slice(-2);
    expect(last).toBeGreaterThan(0);
    expect(last / before).toBeLessThan(1.05);
    const total = (await bench.store.state(executionId))?.execution.sequence ?? 0;
    expect(total).toBeGreaterThan(1200);
    // In another process: the snapshot and the later events.
    read = 0;
    const second = made(workflow, folds, watched);
    expect(await second.resume(workflow.id, executionId, 221)).toMatchObject({
      suspension: { data: { round: 221 } },
    });
    expect(read).toBeLessThan(400);
    await second.close();
  });

  test("a checkpoint of an obsolete body that fails leaves the snapshot equal to the fold of the journal", async () => {
    const [begun, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const card = async () => {
      begun.resolve();
      await late.promise;
      throw new Error("too late");
    };
    const workflow = flow()
      .andThen({
        id: "charge",
        timeout: "1m",
        retry: { attempts: 2, delay: "1s" },
        execute: ({ checkpoint, attempt }) =>
          attempt === 1 ? checkpoint("card", card, { retry: { attempts: 3, delay: "1h" } }) : "paid",
      })
      .andThen({
        id: "gate",
        execute: async ({ suspend, resumeData }) => {
          if (resumeData !== undefined) return resumeData;
          late.resolve();
          for (let turns = 0; turns < 20; turns++) await turn();
          return suspend("wait");
        },
      });
    const snapshots: Snapshot[] = [];
    const store = wrapStore(bench.store, {
      keepSnapshot: (snapshot) => {
        snapshots.push(snapshot);
        return bench.store.keepSnapshot(snapshot);
      },
    });
    const clock = new TestClock();
    const andante = new AndanteService(
      { store, clock, logger: bench.logger, workflows: { workflow } },
      always,
    );
    onTestFinished(() => andante.close({ grace: 0 }));
    const { executionId, result } = await andante.start(workflow.id, 1);
    await begun.promise;
    clock.advance("1m");
    // The body ignores its signal, and is left alone.
    clock.advance("5s");
    expect(await inTime(result(), "the suspension")).toMatchObject({ status: "suspended" });
    const { events } = pageOf(await bench.store.events({ executionId, after: 0, limit: 100 }));
    expect(events.map(({ type }) => type)).not.toContain("checkpoint-retry");
    const folded = new Journal();
    replayEvents(folded, events);
    const texts = new TextNumbers();
    const journal = packJournal(folded, texts);
    const last = snapshots.at(-1);
    expect(last?.sequence).toBe(events.length);
    texts.of("1");
    const body: unknown = JSON.parse(last?.body ?? "null");
    expect(body).toHaveProperty("journal", JSON.parse(JSON.stringify(journal)));
    expect(body).toHaveProperty("texts", texts.texts);
  });

  test("going back to a step discards its outcome and later ones from a snapshot", async () => {
    const workflow = asking(3);
    const first = made(workflow, always);
    const { executionId } = await first.execute(workflow.id, { n: 1 });
    await first.resume(workflow.id, executionId, "go");
    await first.close();
    const second = made(workflow, always);
    const rewound = await second.resume(workflow.id, executionId, null, { stepId: "note" });
    expect(rewound).toMatchObject({ status: "suspended", suspension: { data: { round: 1 } } });
    await second.close();
    const third = made(workflow, always);
    await third.resume(workflow.id, executionId, "go");
    const ended = await third.resume(workflow.id, executionId, "go");
    expect(ended.result).toMatchObject({ data: { n: 3 }, state: { noted: 1, last: 2 }, early: { n: 2 } });
    await third.close();
  });

  test("a replay takes over earlier steps from the journal itself", async () => {
    const workflow = asking(3);
    const { executionId } = await throughLives(workflow, always, 3);
    const andante = made(workflow, always);
    const replayed = await andante.replay(workflow.id, executionId, { stepId: "see" });
    expect(replayed.result).toMatchObject({ data: { n: 3 }, early: { n: 1 } });
    await andante.close();
  });

  test.each<[string, (snapshot: Snapshot) => Snapshot]>([
    ["is in another format", (snapshot) => ({ ...snapshot, format: 99, body: "?" })],
    ["cannot be read", (snapshot) => ({ ...snapshot, body: snapshot.body.slice(1) })],
    ["is ahead of the journal", (snapshot) => ({ ...snapshot, sequence: 1_000_000 })],
    [
      "is that of an earlier execution of the same id",
      (snapshot) => ({ ...snapshot, body: snapshot.body.replace(/"startAt":\d+/, '"startAt":1') }),
    ],
  ])("a snapshot that %s is passed over", async (_, change) => {
    const workflow = asking(2);
    const first = made(workflow, always);
    const { executionId } = await first.execute(workflow.id, { n: 0 });
    await first.close();
    const changed = wrapStore(bench.store, {
      snapshot: async (id: string) => {
        const snapshot = await bench.store.snapshot(id);
        expect(snapshot).toBeDefined();
        return snapshot && change(snapshot);
      },
    });
    const second = made(workflow, always, changed);
    await second.resume(workflow.id, executionId, 1);
    expect(await second.resume(workflow.id, executionId, 2)).toMatchObject({ status: "completed" });
    await second.close();
  });

  test("one that cannot be read is logged", async () => {
    const workflow = asking(2);
    const first = made(workflow, always);
    const { executionId } = await first.execute(workflow.id, { n: 0 });
    await first.close();
    const broken = wrapStore(bench.store, {
      snapshot: async (id: string) => {
        const snapshot = await bench.store.snapshot(id);
        return snapshot && { ...snapshot, body: snapshot.body.slice(1) };
      },
    });
    const second = made(workflow, always, broken);
    await second.resume(workflow.id, executionId, 1);
    expect(bench.logger.messages).toContain(
      "a snapshot could not be read: the journal is read from its beginning",
    );
    await second.close();
  });

  test("a store that keeps no snapshots is only slower", async () => {
    const workflow = asking(2);
    const refusing = wrapStore(bench.store, { keepSnapshot: () => Promise.reject(new Error("full")) });
    const andante = made(workflow, always, refusing);
    const { executionId } = await andante.execute(workflow.id, { n: 0 });
    await andante.resume(workflow.id, executionId, 1);
    expect(await andante.resume(workflow.id, executionId, 2)).toMatchObject({ status: "completed" });
    await andante.close();
  });

  test("one is kept when the journal has grown by as much as the last one takes, not each time", async () => {
    const rounds = 20;
    const workflow = asking(rounds);
    const lengths: number[] = [];
    const counted = wrapStore(bench.store, {
      keepSnapshot: (snapshot) => {
        lengths.push(snapshot.body.length);
        return bench.store.keepSnapshot(snapshot);
      },
    });
    const andante = made(workflow, { minEvents: 0, minGrowth: 1 }, counted);
    const { executionId } = await andante.execute(workflow.id, { n: 0 });
    for (let round = 1; round <= rounds; round++) await andante.resume(workflow.id, executionId, round);
    expect(lengths.length).toBeGreaterThan(1);
    expect(lengths.length).toBeLessThan(rounds - 2);
    await andante.close();
  });

  test("an execution too large for one is read from the journal", async () => {
    const kept: unknown[] = [];
    const counted = wrapStore(bench.store, {
      keepSnapshot: async (snapshot) => void kept.push(snapshot),
    });
    const workflow = flow()
      .andThen({ id: "large", execute: () => "x".repeat(3_000_000) })
      .andThen({ id: "larger", execute: () => "y".repeat(3_000_000) })
      .andThen({ id: "ask", execute: ({ suspend, resumeData }) => resumeData ?? suspend() });
    const andante = made(workflow, always, counted);
    const { executionId } = await andante.execute(workflow.id, 1);
    expect(await andante.resume(workflow.id, executionId, 2)).toMatchObject({ result: 2 });
    expect(kept).toEqual([]);
    await andante.close();
  });

  test("a short execution neither looks for a snapshot nor leaves one", async () => {
    const workflow = asking(2);
    const none = () => Promise.reject(new Error("a short execution asked for a snapshot"));
    const andante = made(
      workflow,
      { memory: 0 },
      wrapStore(bench.store, { snapshot: none, keepSnapshot: none }),
    );
    const { executionId } = await andante.execute(workflow.id, { n: 0 });
    await andante.resume(workflow.id, executionId, 1);
    expect(await andante.resume(workflow.id, executionId, 2)).toMatchObject({ status: "completed" });
    await andante.close();
  });

  test("a changed loop is refused also when its rounds are in a snapshot", async () => {
    const workflow = asking(5);
    const first = made(workflow, always);
    const { executionId } = await first.execute(workflow.id, { n: 0 });
    for (let round = 1; round <= 2; round++) await first.resume(workflow.id, executionId, round);
    await first.close();
    const steps = workflow.steps.map((step) =>
      step.type === "andDoWhile" ? { ...step, steps: [...step.steps, ...otherSteps()] } : step,
    );
    const changed = made({ ...workflow, steps }, always);
    await expect(changed.resume(workflow.id, executionId, 3)).rejects.toMatchObject({
      code: "definition-changed",
    });
    await changed.close();
    const same = made(workflow, always);
    expect(await same.resume(workflow.id, executionId, 3)).toMatchObject({ status: "suspended" });
    await same.close();
  });

  test("a crash at any write leaves a snapshot that is as good as none", { timeout: 60_000 }, async () => {
    const workflow = flow(counting)
      .andDoUntil({
        id: "loop",
        condition: ({ data }) => data.n >= 2,
        step: (chain) =>
          chain
            .andThen({
              id: "ask",
              execute: ({ data, resumeData, suspend, setState }) => {
                if (resumeData === undefined) return suspend("next", data);
                setState({ [`round ${data.n}`]: true });
                return data;
              },
            })
            .andSleep({ id: "rest", duration: "2h" })
            .andThen({ id: "count", execute: ({ data }) => ({ n: data.n + 1 }) }),
      })
      .andThen({
        id: "see",
        execute: ({ data, state, getStepData }) => ({ data, state, ask: getStepData("ask") }),
      });
    const given = { workflow, input: { n: 0 }, resume: ({ data }: { data: unknown }) => ({ data }) };
    const { expected, runs, differences } = await crashTestWith(given, always);
    expect(expected.result).toEqual({
      data: { n: 2 },
      state: { "round 0": true, "round 1": true },
      ask: { input: { n: 1 }, output: { n: 1 } },
    });
    expect(runs.length).toBeGreaterThan(20);
    expect(differences).toEqual([]);
  });

  test("the records of a body's checkpoints are in a snapshot until the body has ended", async () => {
    let charged = 0;
    const workflow = flow()
      .andRace({
        id: "race",
        steps: [
          (chain) =>
            chain.andThen({
              id: "pay",
              execute: async ({ checkpoint, suspend, resumeData }) => {
                const charge = await checkpoint("card", () => ++charged);
                if (resumeData === undefined) return suspend("approve");
                return { charge, again: await checkpoint("receipt", () => "sent") };
              },
            }),
          (chain) =>
            chain.andThen({
              id: "lose",
              execute: async ({ checkpoint, suspend }) => {
                await checkpoint("note", () => 1);
                return suspend("never");
              },
            }),
        ],
      })
      .andThen({
        id: "after",
        execute: ({ data, suspend, resumeData }) => (resumeData ? data : suspend("last")),
      });
    const kept: Snapshot[] = [];
    const watched = wrapStore(bench.store, {
      keepSnapshot: (snapshot: Snapshot) => {
        kept.push(snapshot);
        return bench.store.keepSnapshot(snapshot);
      },
    });
    const first = made(workflow, always, watched);
    const { executionId } = await first.execute(workflow.id, {});
    await first.close();
    expect(kept.at(-1)?.body).toContain("race/pay#card");
    expect(kept.at(-1)?.body).toContain("race/lose#note");
    const second = made(workflow, always, watched);
    await second.resume(workflow.id, executionId, "yes", { stepId: "pay" });
    const result = await second.resume(workflow.id, executionId, true);
    expect(result).toMatchObject({ status: "completed", result: { charge: 1, again: "sent" } });
    expect(charged).toBe(1);
    const { journal } = JSON.parse(kept.at(-1)?.body ?? "{}");
    expect(journal.checkpoints).toEqual([]);
    await second.close();
  });

  test("a journal that another process wrote is read once for a resume", async () => {
    const workflow = asking(2);
    const first = made(workflow, {});
    const { executionId } = await first.execute(workflow.id, { n: 0 });
    await first.close();
    let reads = 0;
    const store = wrapStore(bench.store, {
      events: (query) => {
        reads++;
        return bench.store.events(query);
      },
    });
    const second = made(workflow, {}, store);
    expect(await second.resume(workflow.id, executionId, 1)).toMatchObject({ status: "suspended" });
    expect(reads).toBe(1);
    await second.close();
  });

  test("the memory for executions is bounded: the least recently used one is read again", async () => {
    const workflow = flow().andThen({
      id: "ask",
      execute: ({ setState, suspend, resumeData }) => {
        setState({ pad: "x".repeat(1000) });
        return resumeData ?? suspend();
      },
    });
    let reads = 0;
    const store = wrapStore(bench.store, {
      events: (query) => {
        reads++;
        return bench.store.events(query);
      },
    });
    const andante = made(workflow, { memory: 12_000 }, store);
    const executionIds: string[] = [];
    for (let count = 0; count < 13; count++)
      executionIds.push((await andante.execute(workflow.id, {})).executionId);
    await andante.resume(workflow.id, executionIds.at(-1) ?? "", "newest");
    expect(reads).toBe(0);
    await andante.resume(workflow.id, executionIds[0] ?? "", "oldest");
    expect(reads).toBe(1);
    await andante.close();
  });

  test("the input counts to the memory of a fold", async () => {
    const pad = "x".repeat(3000);
    const workflow = flow()
      .andThen({ id: "forget", execute: () => 1 })
      .andThen({ id: "ask", execute: ({ suspend, resumeData }) => resumeData ?? suspend() });
    const isHeld = async (input: unknown) => {
      let reads = 0;
      const events = (query: EventsQuery) => {
        reads++;
        return bench.store.events(query);
      };
      // A fold may take a quarter of it.
      const andante = made(workflow, { memory: 4 * 5000 }, wrapStore(bench.store, { events }));
      const { executionId } = await andante.execute(workflow.id, input);
      await andante.resume(workflow.id, executionId, "go");
      await andante.close();
      return reads === 0;
    };
    expect(await isHeld("")).toBe(true);
    expect(await isHeld({ pad })).toBe(false);
  });

  test.each([
    ["a snapshot", always],
    ["no snapshot", never],
  ])("with %s of a process that did not trace, open spans follow from the journal", async (_, folds) => {
    const workflow = asking(1);
    const options = { logger: bench.logger, workflows: { workflow }, tracing: false as const };
    const untraced = new AndanteService({ ...options, store: wrapStore(bench.store) }, folds);
    const { executionId } = await untraced.execute(workflow.id, { n: 0 });
    await untraced.close();
    const traced = made(workflow, folds);
    const ended: SpanRecord[] = [];
    traced.traces.follow(({ type, span }) => type === "span-end" && ended.push(span));
    expect(await traced.resume(workflow.id, executionId, 1)).toMatchObject({ status: "completed" });
    await traced.close();
    const names = ["step loop[0]/ask", "step loop", "step see", `invoke_workflow ${workflow.id}`];
    expect(ended.map(({ name }) => name)).toEqual(names);
    const events = ended.at(-1)?.events.map(({ name }) => name);
    expect(events).toEqual(["suspended"]);
    const { execution } = (await bench.store.state(executionId)) ?? {};
    expect(ended.at(-1)?.startTime).toBe(new Date(execution?.startAt ?? 0).toISOString());
  });

  test("a fold without its open spans is held, and they follow from the journal", async () => {
    const workflow = asking(2);
    const first = made(workflow, never);
    const { executionId } = await first.execute(workflow.id, { n: 0 });
    await first.close();
    const { execution } = (await bench.store.state(executionId)) ?? {};
    if (execution === undefined) throw new Error("there is no execution");
    const { store, logger } = bench;
    const observation = new Observation({ store, logger }, { running: () => 0, streams: () => 0 });
    onTestFinished(() => observation.close());
    const folds = new Folds({ store, observation, logger });
    const { fold, spans } = await folds.take(execution);
    folds.keep(executionId, fold, undefined);
    const taken = await folds.take(execution);
    expect(taken.fold).toBe(fold);
    expect(taken.spans?.pack()).toBe(spans?.pack());
    expect(taken.spans?.isWholeAt(execution.sequence)).toBe(true);
  });

  test("the end of a traced execution names its root span as the beginning did", async () => {
    const workflow = asking(2);
    const { executionId } = await throughLives(workflow, always, 2);
    const andante = made(workflow, always);
    const { traces } = await andante.traces.list({ executionId });
    expect(traces).toMatchObject([{ status: "completed", entityId: workflow.id }]);
    await andante.close();
  });
});

function otherSteps() {
  return flow().andThen({ id: "other", execute: () => null }).steps;
}
