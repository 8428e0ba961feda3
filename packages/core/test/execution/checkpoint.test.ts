// Checkpoints: work inside a body that is recorded once, and read when the body runs again.
import { setTimeout as takes, setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { PermanentError } from "../../src/errors/index.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import type { StepContext } from "../../src/workflow/step-context.ts";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { inTime } from "../support/in-time.ts";
import { collect, flow, onMemory, onMemoryAndFile } from "../support/test-andante.ts";
import { heldOperation, wrapStore } from "../support/wrapped-store.ts";

/** Work that counts how often it was done. */
function counter() {
  const runs: Record<string, number> = {};
  return {
    runs,
    do: <Value>(name: string, value: Value) => {
      return () => {
        runs[name] = (runs[name] ?? 0) + 1;
        return value;
      };
    },
  };
}

onMemory((bench) => {
  const failureOf = async (executionId: string) =>
    JSON.parse((await bench.store.state(executionId))?.execution.error ?? "{}");

  describe("a checkpoint", () => {
    test("returns the result of its function through JSON, and appears in the journal, the stream and the trace", async () => {
      const workflow = flow().andThen({
        id: "charge",
        execute: async ({ checkpoint }) => checkpoint("card", () => ({ at: new Date(0), paid: 20 })),
      });
      const andante = bench.andante(workflow);
      const { events, executionId } = await andante.stream(workflow.id, 1);
      const all = await collect(events);
      expect(all.at(-1)).toMatchObject({ result: { at: "1970-01-01T00:00:00.000Z", paid: 20 } });
      expect(all.map(({ type }) => type)).toEqual([
        "workflow-start",
        "step-start",
        "checkpoint-complete",
        "step-complete",
        "workflow-complete",
        "workflow-result",
      ]);
      const journal = await andante.events(workflow.id, executionId);
      expect(journal.find(({ type }) => type === "checkpoint-complete")).toMatchObject({
        from: "charge",
        stepPath: "charge#card",
        stepIndex: 0,
        stepType: "andThen",
        attempt: 1,
        startedAt: expect.any(String),
        output: { paid: 20 },
      });
      const { traces } = await andante.traces.list({ executionId });
      const trace = await andante.traces.read(traces[0]?.traceId ?? "");
      const step = trace?.spans.find(({ name }) => name === "step charge");
      expect(trace?.spans.find(({ name }) => name === "checkpoint charge#card")).toMatchObject({
        parentSpanId: step?.spanId,
        status: "ok",
      });
    });

    test("is not done again by the next attempt of its step; its own failure is not kept", async () => {
      const { runs, do: work } = counter();
      let failures = 0;
      const workflow = flow().andThen({
        id: "charge",
        retry: { attempts: 2, delay: 1 },
        execute: async ({ checkpoint }) => {
          const card = await checkpoint("card", work("card", "paid"));
          await checkpoint("mail", () => {
            if (++failures === 1) throw new Error("no mail today");
          });
          return card;
        },
      });
      const { result } = await bench.andante(workflow).execute(workflow.id, 1);
      expect({ result, runs, failures }).toEqual({ result: "paid", runs: { card: 1 }, failures: 2 });
    });

    test("is not done again after a suspension, nor after a timeout, also when it ended too late", async () => {
      const { runs, do: work } = counter();
      const clock = new TestClock({ skipSleeps: false });
      const slow = Promise.withResolvers<void>();
      const begun = Promise.withResolvers<void>();
      const workflow = flow().andThen({
        id: "charge",
        timeout: "1m",
        retry: { attempts: 2, delay: 1 },
        execute: async ({ checkpoint, resumeData, suspend, attempt }) => {
          await checkpoint("card", work("card", "paid"));
          if (resumeData === undefined) suspend("ok?");
          await checkpoint("slow", async () => {
            work("slow", 1)();
            begun.resolve();
            await slow.promise;
          });
          return attempt;
        },
      });
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      const resumed = andante.resume(workflow.id, executionId, true);
      await begun.promise;
      clock.advance("1m");
      slow.resolve();
      const isRetried = async () =>
        (await andante.events(workflow.id, executionId)).some(({ type }) => type === "step-retry");
      await expect.poll(isRetried).toBe(true);
      clock.advance(1);
      expect(await resumed).toMatchObject({ status: "completed", result: 2 });
      expect(runs).toEqual({ card: 1, slow: 1 });
    });

    test("has a path of its own in every item, round and branch", async () => {
      const work = { id: "work", execute: ({ checkpoint }: StepContext) => checkpoint("one", () => 1) };
      const workflow = flow(z.array(z.number()))
        .andForEach({ id: "each", concurrency: 2, step: andThen(work) })
        .andAll({ id: "all", steps: [andThen({ ...work, id: "left" }), andThen({ ...work, id: "right" })] })
        .andThen({ id: "numbers", execute: () => [1, 2] })
        .andDoUntil({
          id: "loop",
          step: andThen({
            id: "work",
            execute: ({ data, checkpoint }) => checkpoint("one", () => data.slice(1)),
          }),
          condition: ({ data }) => data.length === 0,
        })
        .andWhen({ id: "when", condition: () => true, step: andThen(work) })
        .andTap({ id: "tap", execute: work.execute })
        .andWorkflow({ id: "child", workflow: flow().andThen(work) });
      const andante = bench.andante(workflow);
      const { executionId, status } = await andante.execute(workflow.id, [1, 2]);
      expect(status).toBe("completed");
      const journal = await andante.events(workflow.id, executionId);
      const paths = journal
        .filter(({ type }) => type === "checkpoint-complete")
        .map(({ stepPath }) => stepPath);
      expect(paths.sort()).toEqual([
        "all/left#one",
        "all/right#one",
        "child/work#one",
        "each[0]/work#one",
        "each[1]/work#one",
        "loop[0]/work#one",
        "loop[1]/work#one",
        "tap#one",
        "when/work#one",
      ]);
    });

    test("is forgotten when the execution goes back to its step", async () => {
      const { runs, do: work } = counter();
      const workflow = flow()
        .andThen({ id: "before", execute: ({ checkpoint }) => checkpoint("a", work("before", 1)) })
        .andThen({ id: "charge", execute: ({ checkpoint }) => checkpoint("a", work("charge", 2)) })
        .andThen({
          id: "gate",
          execute: async ({ checkpoint, resumeData, suspend }) => {
            await checkpoint("a", work("gate", 3));
            return resumeData ?? suspend("ok?");
          },
        });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      await andante.resume(workflow.id, executionId, undefined, { stepId: "charge" });
      expect(runs).toEqual({ before: 1, charge: 2, gate: 2 });
      await andante.resume(workflow.id, executionId, "yes");
      expect(runs).toEqual({ before: 1, charge: 2, gate: 2 });
      await andante.replay(workflow.id, executionId, { stepId: "charge" });
      expect(runs).toEqual({ before: 1, charge: 3, gate: 3 });
    });
  });

  describe("a checkpoint's retry and timeout", () => {
    test("run the work again within the attempt of the step, with the same key and a signal", async () => {
      const seen: unknown[] = [];
      const keys = new Set<string>();
      const workflow = flow().andThen({
        id: "charge",
        execute: async ({ checkpoint, attempt }) => {
          const options = { retry: { attempts: 3, delay: 1 }, timeout: 20 };
          const paid = await checkpoint(
            "card",
            async ({ attempt, idempotencyKey, signal }) => {
              keys.add(idempotencyKey);
              if (attempt === 1) throw new Error("busy");
              if (attempt === 2) {
                await new Promise((resolve) => signal.addEventListener("abort", resolve));
                seen.push(signal.reason.message);
              }
              return attempt;
            },
            options,
          );
          return { paid, attempt };
        },
      });
      const { result, executionId } = await bench.andante(workflow).execute(workflow.id, 1);
      expect(result).toEqual({ paid: 3, attempt: 1 });
      expect([...keys]).toEqual([`${executionId}:charge#card`]);
      expect(seen).toEqual(["Checkpoint charge#card took longer than its timeout of 20 ms"]);
      const retried = bench.logger.messages.filter((line) => line.includes("checkpoint"));
      expect(retried).toEqual(Array(2).fill("the checkpoint failed and is tried again"));
    });

    test("throw the last failure when the attempts are used up; a PermanentError is thrown at once", async () => {
      let tried = 0;
      const workflow = flow().andThen({
        id: "charge",
        execute: async ({ checkpoint, data }) =>
          checkpoint(
            "card",
            () => {
              tried++;
              throw data === "for good" ? new PermanentError("no card") : new Error(`busy ${tried}`);
            },
            { retry: { attempts: 2, delay: 1 } },
          ),
      });
      const andante = bench.andante(workflow);
      const first = await andante.execute(workflow.id, 1);
      expect(await failureOf(first.executionId)).toMatchObject({ message: "busy 2", step: "charge" });
      tried = 0;
      const second = await andante.execute(workflow.id, "for good");
      expect(await failureOf(second.executionId)).toMatchObject({ message: "no card" });
      expect(tried).toBe(1);
    });

    test("wait in a row of the store when the delay is above a second, and hold no slot meanwhile", async () => {
      const clock = new TestClock({ skipSleeps: false });
      const { runs, do: work } = counter();
      const attempts: number[] = [];
      const workflow = flow().andThen({
        id: "charge",
        execute: async ({ checkpoint }) => {
          await checkpoint("card", work("card", 1));
          return checkpoint(
            "mail",
            ({ attempt }) => {
              attempts.push(attempt);
              if (attempt < 3) throw new Error("busy");
              return attempt;
            },
            { retry: { attempts: 3, delay: "10s", jitter: false } },
          );
        },
      });
      const andante = bench.andanteWith({ clock, limits: { running: 1 } }, workflow);
      const { executionId, result } = await andante.start(workflow.id, 1);
      const timers = async () => (await bench.store.state(executionId))?.timers.map(({ dueAt }) => dueAt);
      for (const seconds of [10, 20]) {
        await expect.poll(timers).toEqual([clock.now() + seconds * 1000]);
        clock.advance(`${seconds}s`);
      }
      expect(await result()).toMatchObject({ result: 3 });
      expect(await timers()).toEqual([]);
      expect(attempts).toEqual([1, 2, 3]);
      expect(runs).toEqual({ card: 1 });
      const journal = await andante.events(workflow.id, executionId);
      expect(journal.filter(({ type }) => type === "checkpoint-retry")).toMatchObject([
        { attempt: 1, stepPath: "charge#mail", error: { message: "busy" } },
        { attempt: 2 },
      ]);
    });

    test("count anew in the next attempt of the step", async () => {
      const attempts: string[] = [];
      const workflow = flow().andThen({
        id: "charge",
        retry: { attempts: 2, delay: "5s" },
        execute: async ({ checkpoint, attempt: step }) =>
          checkpoint(
            "mail",
            ({ attempt }) => {
              attempts.push(`${step}.${attempt}`);
              if (step === 1 || attempt === 1) throw new Error("busy");
            },
            { retry: { attempts: 2, delay: "5s" } },
          ),
      });
      const andante = bench.andanteWith({ clock: new TestClock() }, workflow);
      expect(await andante.execute(workflow.id, 1)).toMatchObject({ status: "completed" });
      expect(attempts).toEqual(["1.1", "1.2", "2.1", "2.2"]);
    });
  });

  describe("checkpoints at once", () => {
    test("of an attempt whose time was up are not counted for the next attempt of the step", async () => {
      const [obsolete, begun, failedOnce] = [1, 2, 3].map(() => Promise.withResolvers<void>());
      if (!obsolete || !begun || !failedOnce) throw new Error("unreachable");
      const attempts: string[] = [];
      const workflow = flow().andThen({
        id: "charge",
        timeout: "1m",
        retry: { attempts: 2, delay: "1s" },
        execute: ({ checkpoint, attempt: of }) =>
          checkpoint(
            "card",
            async ({ attempt }) => {
              attempts.push(`${of}.${attempt}`);
              if (of === 1) {
                begun.resolve();
                await obsolete.promise;
                throw new Error("too late");
              }
              if (attempt === 2) {
                // The next attempt of the step has a failure in the journal: now the obsolete body has one, too.
                obsolete.resolve();
                failedOnce.resolve();
              }
              if (attempt < 3) throw new Error("broken");
              return "paid";
            },
            { retry: { attempts: 3, delay: "1h" } },
          ),
      });
      const clock = new TestClock();
      const andante = bench.andanteWith({ clock }, workflow);
      const { executionId, events } = await andante.stream(workflow.id, 1);
      await begun.promise;
      clock.advance("1m");
      // It ignores its signal, and is left alone.
      clock.advance("5s");
      await failedOnce.promise;
      const all = await collect(events);
      expect(all.at(-1)).toMatchObject({ status: "completed", result: "paid" });
      expect(attempts).toEqual(["1.1", "2.1", "2.2", "2.3"]);
      const journal = await andante.events(workflow.id, executionId);
      const retries = journal.filter(({ type }) => type === "checkpoint-retry");
      expect(retries).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
    });

    test("are all waited for before the body counts as ended", async () => {
      const { runs, do: work } = counter();
      const workflow = flow().andThen({
        id: "charge",
        retry: { attempts: 2, delay: 1 },
        execute: async ({ checkpoint, attempt }) => {
          // Long enough for a second attempt to begin, if nothing held it back.
          const slow = checkpoint("slow", () => takes(50, work("slow", "slow")()));
          const bad = checkpoint("bad", () => {
            if (attempt === 1) throw new Error("once");
            return "bad";
          });
          return Promise.all([slow, bad]);
        },
      });
      const { result } = await bench.andante(workflow).execute(workflow.id, 1);
      expect({ result, runs }).toEqual({ result: ["slow", "bad"], runs: { slow: 1 } });
    });
  });

  describe("a misuse", () => {
    const cases: Record<string, [(context: StepContext) => unknown, string]> = {
      "an id that is used twice": [
        async ({ checkpoint }) => {
          await checkpoint("card", () => 1);
          await checkpoint("card", () => 2);
        },
        "Checkpoint bad#card is used twice in one run of the body",
      ],
      "an id with a reserved character": [({ checkpoint }) => checkpoint("a/b", () => 1), "must not contain"],
      "suspend inside": [
        ({ checkpoint, suspend }) => checkpoint("card", () => suspend("why")),
        "Checkpoint bad#card cannot suspend",
      ],
      "bail inside": [
        ({ checkpoint, bail }) => checkpoint("card", async () => bail(1)),
        "Checkpoint bad#card cannot bail",
      ],
      "setState inside": [
        ({ checkpoint, setState }) => checkpoint("card", () => setState({})),
        "Checkpoint bad#card cannot set state",
      ],
      "a checkpoint inside": [
        ({ checkpoint }) => checkpoint("card", () => checkpoint("inner", () => 1)),
        "Checkpoint bad#card cannot checkpoint",
      ],
      "a value that JSON cannot hold": [
        ({ checkpoint }) => checkpoint("card", () => new Map()),
        "Output of checkpoint bad#card cannot be kept as JSON",
      ],
      "a value that is too large": [
        ({ checkpoint }) => checkpoint("card", () => "x".repeat(2000)),
        "Output of checkpoint bad#card is 2002 bytes",
      ],
    };
    test.each(Object.entries(cases))("%s fails the step for good", async (_, [execute, message]) => {
      let runs = 0;
      const workflow = flow().andThen({
        id: "bad",
        retry: { attempts: 3, delay: 1 },
        execute: (context) => {
          runs++;
          return execute(context);
        },
      });
      const andante = bench.andanteWith({ limits: { output: 1000 } }, workflow);
      const { status, executionId } = await andante.execute(workflow.id, 1);
      expect(status).toBe("error");
      expect((await failureOf(executionId)).message).toContain(message);
      expect(runs).toBe(1);
    });

    test("outside a body it is refused, in the types and at run time", async () => {
      const workflow = flow().andWhen({
        id: "when",
        // @ts-expect-error a condition has no checkpoints
        condition: ({ checkpoint }) => checkpoint("card", () => true),
        step: andThen({ id: "inner", execute: () => 1 }),
      });
      const { executionId } = await bench.andante(workflow).execute(workflow.id, 1);
      expect((await failureOf(executionId)).message).toBe(
        "when#condition cannot checkpoint: only the body of a step can",
      );
    });

    test("one that begins after its body has returned is refused", async () => {
      const refused = Promise.withResolvers<unknown>();
      const workflow = flow()
        .andThen({
          id: "early",
          execute: ({ checkpoint }) => {
            setImmediate(() => {
              try {
                checkpoint("late", () => 1);
              } catch (error) {
                refused.resolve(error);
              }
            });
          },
        })
        .andThen({ id: "next", execute: () => refused.promise.then(String) });
      const { result } = await bench.andante(workflow).execute(workflow.id, 1);
      expect(result).toContain("Checkpoint early#late cannot begin: the body has ended");
    });

    test("one that begins when another branch has decided is refused, before that is kept too", async () => {
      const late = Promise.withResolvers<void>();
      const refused = Promise.withResolvers<unknown>();
      const commit = heldOperation(bench.store.commit);
      const workflow = flow().andRace({
        id: "race",
        steps: [
          andThen({
            id: "fast",
            execute: async () => {
              commit.hold();
              return "fast";
            },
          }),
          andThen({
            id: "slow",
            execute: async ({ checkpoint }) => {
              await late.promise;
              await checkpoint("late", () => 1).catch(refused.resolve);
              return "slow";
            },
          }),
        ],
      });
      const andante = bench.andanteWith({ store: wrapStore(bench.store, { commit: commit.run }) }, workflow);
      const { result } = await andante.start(workflow.id, 1);
      await commit.asked;
      late.resolve();
      expect(await refused.promise).toMatchObject({ name: "AbortError", message: "The step has ended" });
      commit.release();
      expect(await result()).toMatchObject({ result: "fast" });
    });

    test("a suspension beside a checkpoint under way is none", async () => {
      const workflow = flow().andThen({
        id: "both",
        execute: async ({ checkpoint, suspend, resumeData }) => {
          const paid = checkpoint("card", async () => "paid");
          return resumeData === undefined ? suspend("ok?") : paid;
        },
      });
      const andante = bench.andante(workflow);
      const { executionId, status } = await andante.execute(workflow.id, 1);
      expect(status).toBe("suspended");
      expect(await andante.resume(workflow.id, executionId, true)).toMatchObject({ result: "paid" });
    });
  });
});

onMemoryAndFile((bench) => {
  /** Two checkpoints: the first is held open, and its calls are counted. */
  function heldFlow() {
    const { runs, do: work } = counter();
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const workflow = flow().andThen({
      id: "charge",
      execute: async ({ checkpoint }) => {
        work("body", 1)();
        const first = await checkpoint("first", async () => {
          begun.resolve();
          await gate.promise;
          return work("first", "first")();
        });
        return [first, await checkpoint("second", work("second", "second"))];
      },
    });
    return { workflow, runs, begun: begun.promise, finish: () => gate.resolve() };
  }
  const recorded = async (executionId: string) =>
    (await bench.store.events({ executionId, after: 0, limit: 100, length: 1e6 }))
      .filter(({ type }) => type === "checkpoint-complete")
      .map(({ path }) => path);

  test("under a pause none begins: the body unwinds and runs again over the record", async () => {
    const { workflow, runs, begun, finish } = heldFlow();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await begun;
    await andante.suspend(workflow.id, executionId, {});
    finish();
    await expect.poll(() => recorded(executionId)).toEqual(["charge#first"]);
    await inTime(andante.settled(), "the end of the body");
    expect(runs).toEqual({ body: 1, first: 1 });
    const resumed = andante.resume(workflow.id, executionId);
    expect(await inTime(resumed, "the result")).toMatchObject({ result: ["first", "second"] });
    expect(runs).toEqual({ body: 2, first: 1, second: 1 });
    expect(bench.logger.messages).toEqual([]);
  });

  test("a body that swallows the interruption, or a wait for a retry, runs again all the same", async () => {
    const { runs, do: work } = counter();
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const workflow = flow().andThen({
      id: "charge",
      execute: async ({ checkpoint }) => {
        await checkpoint("first", async () => {
          begun.resolve();
          await gate.promise;
        });
        const second = checkpoint("second", () => work("second", "second")());
        const paid = await second.catch(() => "swallowed");
        const mail = (context: { attempt: number }) => {
          if (context.attempt === 1) throw new Error("busy");
          return "sent";
        };
        const retry = { attempts: 2, delay: "2s", jitter: false } as const;
        return [paid, await checkpoint("mail", mail, { retry }).catch(() => "lost")];
      },
    });
    const andante = bench.andanteWith({ clock: new TestClock() }, workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await begun.promise;
    await andante.suspend(workflow.id, executionId, {});
    gate.resolve();
    await expect.poll(() => recorded(executionId)).toEqual(["charge#first"]);
    await inTime(andante.settled(), "the end of the body");
    expect(await andante.resume(workflow.id, executionId)).toMatchObject({ result: ["second", "sent"] });
    expect(runs).toEqual({ second: 1 });
    const swallowed = (what: string) => `the body swallowed what checkpoint() throws ${what}`;
    expect(bench.logger.messages).toEqual([
      swallowed("during a pause or a shut-down; running it again anyway"),
      "the checkpoint failed and is tried again",
      swallowed("before a delay; running it again anyway"),
    ]);
  });

  test("in a shut-down none begins, and the next process continues from the record", async () => {
    const { workflow, runs, begun, finish } = heldFlow();
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await begun;
    const closed = andante.close({ grace: 5000 });
    finish();
    await closed;
    expect(runs).toEqual({ body: 1, first: 1 });
    const next = bench.andante(workflow);
    await next.ready();
    const status = async () => (await next.state(workflow.id, executionId)).status;
    await expect.poll(status).toBe("completed");
    expect(runs).toEqual({ body: 2, first: 1, second: 1 });
  });

  /** Two side by side: the output of `big` cannot be recorded, and `next` follows the other. */
  function bigFlow(around: (both: Promise<unknown>[], big: Promise<unknown>) => Promise<unknown>) {
    const { runs, do: work } = counter();
    const begun = Promise.withResolvers<void>();
    const [quick, big] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const workflow = flow().andThen({
      id: "both",
      execute: ({ checkpoint }) => {
        const first = checkpoint("big", async () => {
          begun.resolve();
          await big.promise;
          return work("big", new Map())();
        });
        const second = checkpoint("quick", () => quick.promise).then(() =>
          checkpoint("next", work("next", 1)),
        );
        return around([first, second], first);
      },
    });
    return { workflow, runs, begun: begun.promise, quick, big };
  }

  test.each<[string, Parameters<typeof bigFlow>[0], object, object]>([
    [
      "is not done again where the body throws that error",
      (both, big) => Promise.allSettled(both).then(() => big),
      { status: "error", result: null },
      { big: 1 },
    ],
    [
      "is done again where the body catches it",
      (both) => Promise.allSettled(both).then((all) => all.map(({ status }) => status)),
      { status: "completed", result: '["rejected","fulfilled"]' },
      { big: 2, next: 1 },
    ],
  ])(
    "one whose output cannot be recorded while a pause ends its body %s",
    async (_, around, expected, counts) => {
      const { workflow, runs, begun, quick, big } = bigFlow(around);
      const andante = bench.andante(workflow);
      const { executionId } = await andante.start(workflow.id, 1);
      await begun;
      await andante.suspend(workflow.id, executionId, {});
      quick.resolve();
      await expect.poll(() => recorded(executionId)).toEqual(["both#quick"]);
      for (let turns = 0; turns < 20; turns++) await turn();
      big.resolve();
      await inTime(andante.settled(), "the end of the body");
      await andante.resume(workflow.id, executionId);
      expect((await bench.store.state(executionId))?.execution).toMatchObject(expected);
      expect(runs).toEqual(counts);
    },
  );

  test("one whose output cannot be recorded may be caught, and a pause after it ends the body as any other", async () => {
    const { runs, do: work } = counter();
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const workflow = flow().andThen({
      id: "both",
      execute: async ({ checkpoint }) => {
        const big = await checkpoint("big", work("big", new Map())).catch(() => "nothing");
        await checkpoint("held", () => {
          begun.resolve();
          return gate.promise;
        });
        return checkpoint("next", work("next", big));
      },
    });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.start(workflow.id, 1);
    await begun;
    await andante.suspend(workflow.id, executionId, {});
    gate.resolve();
    await inTime(andante.settled(), "the end of the body");
    expect(await andante.resume(workflow.id, executionId)).toMatchObject({ result: "nothing" });
    expect(runs).toEqual({ big: 2, next: 1 });
  });

  test("a process that lost the execution records nothing", async () => {
    const { workflow, begun, finish } = heldFlow();
    const andante = bench.andante(workflow);
    const { executionId, result } = await andante.start(workflow.id, 1);
    await begun;
    await andante.cancel(workflow.id, executionId);
    finish();
    expect(await result()).toMatchObject({ status: "cancelled" });
    expect(await recorded(executionId)).toEqual([]);
  });
});

describe("crashTest", { timeout: 60_000 }, () => {
  test("no recorded checkpoint is done twice, wherever the process dies", async () => {
    const done: string[] = [];
    const workflow = createWorkflow({ id: "pay", input: z.object({ amount: z.number() }) })
      .andThen({
        id: "charge",
        retry: { attempts: 2, delay: "1m" },
        execute: async ({ data, checkpoint, attempt, resumeData, suspend }) => {
          const both = await Promise.all([
            checkpoint("card", ({ idempotencyKey }) => done.push(idempotencyKey) && data.amount),
            checkpoint("mail", ({ idempotencyKey }) => done.push(idempotencyKey) && "sent"),
          ]);
          if (attempt === 1) throw new Error("once");
          if (resumeData === undefined) suspend("ok?");
          const flaky = await checkpoint(
            "flaky",
            ({ attempt }) => {
              if (attempt < 3) throw new Error("busy");
              return "done";
            },
            { retry: { attempts: 3, delay: "1s", jitter: false } },
          );
          return [...both, flaky];
        },
      })
      .andForEach({
        id: "each",
        concurrency: 2,
        step: andThen({ id: "step", execute: ({ data, checkpoint }) => checkpoint("one", () => data) }),
      });
    const { expected, differences, runs } = await crashTest({
      workflow,
      input: { amount: 20 },
      resume: () => true,
      reset: () => done.splice(0),
      observe: () => done.length,
    });
    expect(expected).toMatchObject({ status: "completed", result: [20, "sent", "done"], observed: 2 });
    const lost = runs.filter(({ events, variant }) => events.includes("charge#card") && variant === "lost");
    expect(lost).toHaveLength(1);
    // Only work that was never recorded is done again.
    expect(differences).toEqual([expect.stringContaining("observed is 4, undisturbed 2")]);
    expect(differences[0]).toContain(`just before write ${lost[0]?.write} `);
    expect(runs.length).toBeGreaterThan(20);
  });
});
