// state, setState and emit: the state that steps share, and the events they send.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { andThen } from "../../src/workflow/steps/free-steps.ts";
import { attach, collect, flow, heldBody, onMemory, onMemoryAndFile } from "../support/test-andante.ts";

const read = { id: "read", execute: ({ state }: { state: unknown }) => state };

onMemory((bench) => {
  describe("setState", () => {
    test.each([["a text"], [5], [null], [undefined], [["a list"]]])(
      "refuses %j, which is not an object, also from a function",
      async (patch) => {
        for (const given of [patch, () => patch]) {
          const workflow = flow().andThen({
            id: "set",
            execute: (context) => void Reflect.apply(context.setState, context, [given]),
          });
          const andante = bench.andante(workflow);
          const { executionId, status } = await andante.execute(workflow.id, 1);
          expect(status).toBe("error");
          const events = await andante.events(workflow.id, executionId);
          expect(JSON.stringify(events)).toContain("Step set: state validation failed: expected an object");
        }
      },
    );

    test("is visible to later steps and to the body itself, and recorded in the journal", async () => {
      const workflow = flow()
        .andThen({
          id: "set",
          execute: ({ setState, state }) => {
            setState({ a: 1, b: 1 });
            return state;
          },
        })
        .andThen({
          id: "look",
          execute: (context) => {
            context.setState({ b: 2 });
            return context.state;
          },
        })
        .andThen({ id: "both", execute: ({ data, state }) => ({ data, state }) });
      const andante = bench.andante(workflow);
      const { result, executionId } = await andante.execute(workflow.id, 1);
      expect(result).toEqual({ data: { a: 1, b: 2 }, state: { a: 1, b: 2 } });
      const changes = (await andante.events(workflow.id, executionId)).filter(
        ({ type }) => type === "state-changed",
      );
      expect(changes).toMatchObject([
        { from: "set", state: { a: 1, b: 1 } },
        { from: "look", state: { b: 2 } },
      ]);
    });

    test("with a function works on the state as it is when the outcome is recorded", async () => {
      const workflow = flow(z.array(z.number()))
        .andForEach({
          id: "each",
          concurrency: 50,
          step: andThen({
            id: "add",
            execute: async ({ setState }) => {
              await null;
              setState(({ count = 0 }) => ({ count: Number(count) + 1 }));
            },
          }),
        })
        .andThen(read);
      const items = Array.from({ length: 50 }, (_, index) => index);
      expect(await bench.andante(workflow).execute(workflow.id, items)).toMatchObject({
        result: { count: 50 },
      });
    });

    test("with a function evaluates it once, when it is called: the body reads the value that is kept", async () => {
      let evaluations = 0;
      const seen: unknown[] = [];
      const workflow = flow()
        .andThen({
          id: "set",
          execute: (context) => {
            context.setState(() => ({ ticket: ++evaluations }));
            seen.push(evaluations, context.state.ticket, context.state.ticket);
          },
        })
        .andThen(read);
      const { result } = await bench.andante(workflow).execute(workflow.id, 1);
      expect(seen).toEqual([1, 1, 1]);
      expect(result).toEqual({ ticket: 1 });
      expect(evaluations).toBe(1);
    });

    test("with a function builds on the values that the body has set before", async () => {
      const workflow = flow()
        .andThen({
          id: "set",
          execute: (context) => {
            context.setState({ n: 1 });
            context.setState(({ n }) => ({ n: Number(n) + 1 }));
            const between = context.state;
            context.setState(({ n }) => ({ n: Number(n) * 10, more: true }));
            return [between, context.state];
          },
        })
        .andThen({ id: "both", execute: ({ data, state }) => [data, state] });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({
        result: [[{ n: 2 }, { n: 20, more: true }], { n: 20, more: true }],
      });
    });

    test("with a function evaluates it again only where another branch has changed the state meanwhile", async () => {
      const slow = heldBody(null);
      const evaluated: unknown[] = [];
      const workflow = flow()
        .andAll({
          id: "all",
          steps: [
            andThen({
              id: "slow",
              execute: async (context) => {
                context.setState(({ count = 0 }) => {
                  evaluated.push(count);
                  return { count: Number(count) + 1 };
                });
                await slow.execute(context);
              },
            }),
            (chain) =>
              chain
                .andThen({
                  id: "quick",
                  execute: async ({ setState }) => {
                    await slow.started;
                    setState(({ count = 0 }) => ({ count: Number(count) + 10 }));
                  },
                })
                .andThen({ id: "then", execute: () => slow.finish() }),
          ],
        })
        .andThen(read);
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ result: { count: 11 } });
      expect(evaluated).toEqual([0, 10]);
    });

    test("with a function that throws lets the body decide", async () => {
      const workflow = flow()
        .andThen({
          id: "set",
          execute: ({ setState }) => {
            try {
              setState(() => {
                throw new Error("no");
              });
            } catch {
              setState({ instead: true });
            }
          },
        })
        .andThen(read);
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({
        status: "completed",
        result: { instead: true },
      });
    });

    test("takes a time that grows with the number of keys, not with its square", async () => {
      const workflow = flow().andThen({
        id: "set",
        execute: ({ setState }) => {
          for (let key = 0; key < 4000; key++) setState({ [`key-${key}`]: key });
        },
      });
      // About 0.1 s; with a copy of all keys for each it took more than 20 s, longer than tests wait for a result.
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ status: "completed" });
    });

    test("is dropped when the attempt fails or suspends", async () => {
      const workflow = flow()
        .andThen({
          id: "flaky",
          retry: { attempts: 2, delay: 1 },
          execute: ({ setState, attempt }) => {
            setState({ [`attempt${attempt}`]: true });
            if (attempt === 1) throw new Error("once");
          },
        })
        .andThen({
          id: "gate",
          execute: ({ setState, suspend, resumeData }) => {
            setState(({ visits = 0 }) => ({ visits: Number(visits) + 1 }));
            if (resumeData === undefined) suspend("please");
          },
        })
        .andThen(read);
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      expect(await andante.resume(workflow.id, executionId, "yes")).toMatchObject({
        result: { attempt2: true, visits: 1 },
      });
    });

    test("takes a key named __proto__ as a key", async () => {
      const workflow = flow()
        .andThen({
          id: "set",
          execute: ({ setState }) => setState(JSON.parse('{"__proto__":{"admin":true}}')),
        })
        .andThen({ id: "look", execute: ({ state }) => [Object.keys(state), Object(state).admin ?? "none"] });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({
        result: [["__proto__"], "none"],
      });
    });

    test.each([
      { name: "a list", patch: [1] },
      { name: "a text", patch: "text" },
      { name: "something that is no JSON", patch: { big: 1n } },
      { name: "a function that throws", patch: () => Promise.reject.call(undefined) },
    ])("with $name fails the step", async ({ patch }) => {
      const workflow = flow().andThen({
        id: "set",
        execute: ({ setState }) => Reflect.apply(setState, undefined, [patch]),
      });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ status: "error" });
    });
  });

  describe("emit", () => {
    test("sends events in order, while the body still runs, marked with their attempt", async () => {
      const held = heldBody("done");
      const workflow = flow().andThen({
        id: "work",
        execute: async ({ emit, signal }) => {
          emit("progress", { percent: 10 });
          emit("progress", { percent: 50 });
          return held.execute({ signal });
        },
      });
      const andante = bench.andante(workflow);
      const { events, executionId } = await andante.stream(workflow.id, 1);
      const seen = [];
      for await (const event of events) {
        seen.push(event);
        if (event.data !== undefined && Object(event.data).percent === 50) held.finish();
      }
      expect(seen.map(({ type }) => type)).toEqual([
        "workflow-start",
        "step-start",
        "progress",
        "progress",
        "step-complete",
        "workflow-complete",
        "workflow-result",
      ]);
      expect(seen[2]).toMatchObject({
        from: "work",
        stepPath: "work",
        data: { percent: 10 },
        attempt: 1,
        sequence: 3,
      });
      const replayed = await collect(await attach(andante, workflow.id, executionId, 2));
      expect(replayed[0]).toMatchObject({ type: "progress", data: { percent: 10 } });
    });

    test.each([
      "workflow-complete",
      "step-complete",
      "execution-rewound",
      "state-changed",
      "text-delta",
      "",
      "x".repeat(101),
    ])("refuses the type %j", async (type) => {
      const workflow = flow().andThen({ id: "work", execute: ({ emit }) => emit(type) });
      expect(await bench.andante(workflow).execute(workflow.id, 1)).toMatchObject({ status: "error" });
    });

    test("of a name that is in the journal changes nothing of the run", async () => {
      const workflow = flow()
        .andThen({ id: "work", execute: ({ emit }) => emit("step.complete", "forged") })
        .andThen({ id: "gate", execute: ({ suspend, resumeData }) => resumeData ?? suspend("please") });
      const first = bench.andante(workflow);
      const { executionId } = await first.execute(workflow.id, 1);
      await first.close({ grace: 0 });
      expect(await bench.andante(workflow).resume(workflow.id, executionId, "real")).toMatchObject({
        result: "real",
      });
    });

    test("from code that outlives its body is dropped, and so is its setState", async () => {
      const held = heldBody("next");
      const ended = Promise.withResolvers<void>();
      const late = Promise.withResolvers<void>();
      const workflow = flow()
        .andThen({
          id: "work",
          execute: async ({ emit, setState, checkpoint }) => {
            setState({ seen: "in time" });
            // Waited for before the body counts as ended.
            checkpoint("slow", () => {
              emit("in-time");
            });
            ended.promise.then(() => {
              emit("too-late");
              setState({ seen: "too late" });
              late.resolve();
            });
          },
        })
        .andThen({ id: "next", execute: held.execute })
        .andThen({ id: "last", execute: ({ state }) => state });
      const andante = bench.andante(workflow);
      const started = await andante.start(workflow.id, 1);
      await held.started;
      ended.resolve();
      await late.promise;
      held.finish();
      expect(await started.result()).toMatchObject({ result: { seen: "in time" } });
      const types = (await andante.events(workflow.id, started.executionId)).map(({ type }) => type);
      expect(types).toContain("in-time");
      expect(types).not.toContain("too-late");
    });

    test("of a body that lost its race goes nowhere", async () => {
      const held = heldBody("slow");
      const lost = Promise.withResolvers<void>();
      const workflow = flow().andRace({
        id: "race",
        steps: [
          andThen({
            id: "slow",
            execute: async ({ emit, signal }) => {
              await held.execute({ signal });
              emit("too-late");
              lost.resolve();
            },
          }),
          andThen({ id: "quick", execute: () => held.started.then(() => "quick") }),
        ],
      });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, 1);
      held.finish();
      await lost.promise;
      const types = (await andante.events(workflow.id, executionId)).map(({ type }) => type);
      expect(types).not.toContain("too-late");
    });
  });
});

// The state that one process leaves for the next goes through the disk: these run on a file, too.
onMemoryAndFile((bench) => {
  describe("setState", () => {
    test("survives the process, and going back undoes changes at or after the step", async () => {
      const workflow = flow()
        .andThen({ id: "one", execute: ({ setState }) => setState({ one: 1 }) })
        .andThen({
          id: "two",
          execute: ({ setState }) => setState(({ two = 0 }) => ({ two: Number(two) + 1 })),
        })
        .andThen({
          id: "gate",
          execute: ({ suspend, resumeData, state }) => (resumeData === undefined ? suspend("please") : state),
        });
      const first = bench.andante(workflow);
      const { executionId } = await first.execute(workflow.id, 1);
      await first.close({ grace: 0 });
      const second = bench.andante(workflow);
      await second.resume(workflow.id, executionId, "again", { stepId: "two" });
      expect(await second.resume(workflow.id, executionId, "yes")).toMatchObject({
        result: { one: 1, two: 1 },
      });
    });
  });
});
