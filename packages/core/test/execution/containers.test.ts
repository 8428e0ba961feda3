// Parallel branches: which one wins, which are aborted, which are not run again.
import { describe, expect, test } from "vitest";
import { encodeEvent } from "../../src/journal/codec.ts";
import { andAll, andRace, andThen, andWorkflow } from "../../src/workflow/steps/free-steps.ts";
import { attach, flow, heldBody, onMemory, until } from "../support/test-andante.ts";

const fails = (id: string) => andThen({ id, execute: () => Promise.reject(new Error(`${id} failed`)) });
const gate = (id: string) =>
  andThen({
    id,
    execute: ({ resumeData, suspend }) => (resumeData === undefined ? suspend(id) : resumeData),
  });

onMemory((bench) => {
  test("of two outcomes in one commit the later one in the journal is the newest of its id, then and after a crash", async () => {
    const child = flow().andThen({ id: "same", execute: () => "body" });
    const workflow = flow()
      .andAll({
        id: "all",
        steps: [
          (chain) =>
            chain
              .andThen({ id: "none", execute: (): number[] => [] })
              .andForEach({ id: "same", step: andThen({ id: "item", execute: () => 1 }) }),
          andWorkflow({ id: "child", workflow: child }),
        ],
      })
      .andThen({ id: "see", execute: ({ getStepData }) => getStepData("same")?.output });
    const { executionId, result } = await bench.andante(workflow).execute(workflow.id, {});
    const events = await bench.store.events({ executionId, after: 0, limit: 100 });
    const newest = events.findLast(({ type, path }) => type === "step-complete" && path?.endsWith("/same"));
    expect(JSON.stringify(result)).toBe(newest?.value);
  });

  test("a container that ended before its branch lost is in the journal: later steps see it, then and after a crash", async () => {
    const held = heldBody("never");
    const workflow = flow()
      .andRace({
        id: "race",
        steps: [
          (chain) =>
            chain
              .andAll({ id: "all", steps: [andThen({ id: "a", execute: () => "a" })] })
              .andThen({ id: "held", execute: held.execute }),
          andThen({ id: "b", execute: () => "b" }),
        ],
      })
      .andThen({ id: "see", execute: ({ getStepData }) => getStepData("race/all")?.output ?? null });
    const { executionId, result } = await bench.andante(workflow).execute(workflow.id, {});
    const events = await bench.store.events({ executionId, after: 0, limit: 100 });
    const ended = events.some(({ path, type }) => path === "race/all" && type === "step-complete");
    expect([ended, result, held.runs]).toEqual([true, ["a"], 0]);
  });

  describe("andAll", () => {
    test("runs its branches at once and gives their outputs in order", async () => {
      const [slow, fast] = [heldBody("slow"), heldBody("fast")];
      const workflow = flow().andAll({
        id: "all",
        steps: [
          andThen({ id: "slow", execute: slow.execute }),
          andThen({ id: "fast", execute: fast.execute }),
        ],
      });
      const result = bench.andante(workflow).execute(workflow.id, {});
      const signals = await Promise.all([slow.started, fast.started]);
      fast.finish();
      slow.finish();
      expect((await result).result).toEqual(["slow", "fast"]);
      // No branch has lost.
      expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    });

    test("fails with its first failing branch, aborts the others and starts nothing more", async () => {
      const held = heldBody("too late");
      let ranAfter = false;
      const workflow = flow().andAll({
        id: "all",
        steps: [
          (chain) =>
            chain
              .andThen({ id: "held", execute: held.execute })
              .andThen({ id: "after", execute: () => (ranAfter = true) }),
          andThen({
            id: "bad",
            execute: async () => {
              await held.started;
              throw new Error("bad");
            },
          }),
        ],
      });
      const andante = bench.andante(workflow);
      const { executionId, status } = await andante.execute(workflow.id, {});
      expect(status).toBe("error");
      const signal = await held.started;
      expect(signal.aborted).toBe(true);
      held.finish();
      const events = await andante.events(workflow.id, executionId);
      expect(events.map(({ type, from }) => (from ? `${type} ${from}` : type))).toEqual([
        "workflow-start",
        "step-start all",
        "step-start held",
        "step-start bad",
        "step-error bad",
        "step-error all",
        "workflow-error",
      ]);
      expect(ranAfter).toBe(false);
    });

    test("that fails in the same moment as a sibling continues starts nothing more there", async () => {
      const runs: string[] = [];
      const workflow = flow().andAll({
        id: "all",
        steps: [
          (chain) =>
            chain
              .andThen({ id: "a", execute: () => runs.push("a") })
              .andThen({ id: "b", execute: () => runs.push("b") }),
          andThen({
            id: "bad",
            execute: () => {
              throw new Error("bad");
            },
          }),
        ],
      });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, {});
      const events = await andante.events(workflow.id, executionId);
      expect(events.filter(({ from }) => from === "b")).toEqual([]);
      expect(runs).toEqual(["a"]);
    });

    test("does not run finished siblings again after a resume", async () => {
      let runs = 0;
      const workflow = flow().andAll({
        id: "all",
        steps: [andThen({ id: "once", execute: () => ++runs }), gate("gate")],
      });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, {});
      expect((await andante.resume(workflow.id, executionId, "yes")).result).toEqual([1, "yes"]);
      expect(runs).toBe(1);
    });

    test("that fails closes the suspensions of its siblings", async () => {
      const held = heldBody("x");
      const workflow = flow().andAll({
        id: "all",
        steps: [
          gate("gate"),
          (chain) =>
            chain
              .andThen({ id: "held", execute: held.execute })
              .andThen({ id: "bad", execute: () => Promise.reject(new Error("bad")) }),
        ],
      });
      const andante = bench.andante(workflow);
      const { executionId, result } = await andante.start(workflow.id, {});
      await held.started;
      held.finish();
      expect(await result()).toMatchObject({ status: "error" });
      const state = await andante.state(workflow.id, executionId);
      expect(state).toMatchObject({ status: "error" });
      expect(state).not.toHaveProperty("suspension");
    });
  });

  test("a branch that fails stops the others for the reason that it has decided, not for its own", async () => {
    const other = heldBody("other");
    const workflow = flow().andAll({
      id: "all",
      steps: [
        andThen({ id: "other", execute: other.execute }),
        andThen({
          id: "bad",
          execute: async () => {
            await other.started;
            throw new Error("a secret of this branch");
          },
        }),
      ],
    });
    await bench.andante(workflow).execute(workflow.id, {});
    const signal = await other.started;
    expect(signal.reason).toMatchObject({ message: "Another branch has decided" });
    other.finish();
  });

  describe("andRace", () => {
    test("continues with the first success and aborts the losers", async () => {
      const loser = heldBody("loser");
      const workflow = flow().andRace({
        id: "race",
        steps: [
          andThen({ id: "loser", execute: loser.execute }),
          fails("bad"),
          andThen({ id: "winner", execute: async () => (await loser.started) && "winner" }),
        ],
      });
      const { result } = await bench.andante(workflow).execute(workflow.id, {});
      expect(result).toBe("winner");
      const signal = await loser.started;
      expect(signal.aborted).toBe(true);
      expect(signal.reason).toMatchObject({ message: "Another branch has decided" });
      loser.finish();
    });

    test("aborts the losers also when the execution rests in the same moment", async () => {
      const loser = heldBody("loser");
      const workflow = flow().andAll({
        id: "all",
        steps: [
          andRace({
            id: "race",
            steps: [
              andThen({ id: "loser", execute: loser.execute }),
              andThen({ id: "winner", execute: async () => (await loser.started) && 1 }),
            ],
          }),
          gate("gate"),
        ],
      });
      expect((await bench.andante(workflow).execute(workflow.id, {})).status).toBe("suspended");
      expect((await loser.started).aborted).toBe(true);
      loser.finish();
    });

    test("fails only when all fail, with the first failure", async () => {
      const second = heldBody("x");
      const workflow = flow().andRace({
        id: "race",
        steps: [
          (chain) =>
            chain
              .andThen({ id: "held", execute: second.execute })
              .andThen({ id: "b", execute: () => Promise.reject(new Error("second")) }),
          andThen({
            id: "a",
            execute: async () => {
              await second.started;
              throw new Error("first");
            },
          }),
        ],
      });
      const andante = bench.andante(workflow);
      const stream = await andante.stream(workflow.id, {});
      for await (const event of stream.events) if (event.type === "step-error") second.finish();
      const { executions } = await andante.list({ idPrefix: stream.executionId });
      expect(executions[0]?.error).toMatchObject({ message: "first", step: "race/a" });
    });

    test("fails with the first failure also when another branch was tried again meanwhile", async () => {
      const failing = (message: string) => () => Promise.reject(new Error(message));
      const workflow = flow().andRace({
        id: "race",
        steps: [
          andThen({ id: "a", execute: failing("first") }),
          andThen({ id: "b", retry: { attempts: 3, delay: 1 }, execute: failing("second") }),
        ],
      });
      const andante = bench.andante(workflow);
      const { executionId } = await andante.execute(workflow.id, {});
      const { executions } = await andante.list({ idPrefix: executionId });
      expect(executions[0]?.error).toMatchObject({ message: "first", step: "race/a" });
    });

    test("waits when a branch is suspended and nothing else can win", async () => {
      const workflow = flow().andRace({ id: "race", steps: [gate("gate"), fails("bad")] });
      const andante = bench.andante(workflow);
      const { executionId, status, suspension } = await andante.execute(workflow.id, {});
      expect([status, suspension?.stepPath]).toEqual(["suspended", "race/gate"]);
      expect((await andante.resume(workflow.id, executionId, "late")).result).toBe("late");
    });

    test("does not wait for a suspended branch when another wins, and closes it", async () => {
      const held = heldBody("winner");
      const workflow = flow()
        .andRace({ id: "race", steps: [gate("gate"), andThen({ id: "held", execute: held.execute })] })
        .andThen({
          id: "hold",
          execute: ({ data, suspend, resumeData }) => (resumeData ? data : suspend("second")),
        });
      const andante = bench.andante(workflow);
      const { executionId, result } = await andante.start(workflow.id, {});
      await held.started;
      held.finish();
      expect((await result()).suspension?.stepPath).toBe("hold");
      const { suspensions } = await andante.state(workflow.id, executionId);
      expect(suspensions?.map(({ stepPath }) => stepPath)).toEqual(["hold"]);
      expect((await andante.resume(workflow.id, executionId, true)).result).toBe("winner");
    });
  });

  describe("several suspensions", () => {
    const workflow = () =>
      flow().andAll({
        id: "all",
        steps: [gate("a"), gate("b"), andAll({ id: "inner", steps: [gate("a"), gate("c")] })],
      });

    test("are answered one by one, in any order", async () => {
      const three = workflow();
      const andante = bench.andante(three);
      const { executionId } = await andante.execute(three.id, {});
      const answer = (stepId: string) => andante.resume(three.id, executionId, stepId, { stepId });
      expect((await answer("c")).status).toBe("suspended");
      expect((await answer("all/inner/a")).status).toBe("suspended");
      expect((await answer("b")).status).toBe("suspended");
      expect(await answer("a")).toMatchObject({
        status: "completed",
        result: ["a", "b", ["all/inner/a", "c"]],
      });
    });

    test("are answered all at once", async () => {
      const three = workflow();
      const andante = bench.andante(three);
      const { executionId } = await andante.execute(three.id, {});
      const paths = ["all/a", "all/b", "all/inner/a", "all/inner/c"];
      const answers = await Promise.all(
        paths.map((stepId) => andante.resume(three.id, executionId, stepId, { stepId })),
      );
      expect(answers.some(({ status }) => status === "completed")).toBe(true);
      expect((await andante.state(three.id, executionId)).result).toEqual([
        "all/a",
        "all/b",
        ["all/inner/a", "all/inner/c"],
      ]);
    });

    test("answered by another process are found before the owner rests", async () => {
      const held = heldBody("held");
      const workflow = flow().andAll({
        id: "all",
        steps: [andThen({ id: "held", execute: held.execute }), gate("gate")],
      });
      const andante = bench.andante(workflow);
      const { executionId, result } = await andante.start(workflow.id, {});
      await held.started;
      const events = await attach(andante, workflow.id, executionId);
      const { suspension } = await until(events, "step-suspended");
      const { suspensionId } = Object(suspension);
      const answer = encodeEvent({
        type: "workflow-resumed",
        timestamp: Date.now(),
        path: "all/gate",
        stepIndex: 0,
        suspensionId,
        resumeData: '"afar"',
        userId: undefined,
        byDeadline: false,
        expired: false,
      });
      const resumed = await bench.store.resume({
        executionId,
        suspensionIds: [suspensionId],
        rewind: null,
        events: [answer],
        claim: { owner: "another process", token: "its token" },
        byDeadline: false,
      });
      expect(resumed.kind).toBe("owned");
      held.finish();
      expect(await result()).toMatchObject({ status: "completed", result: ["held", "afar"] });
      await events.return?.();
    });

    test("must be named: none, an ambiguous or an unknown name is refused with the paths", async () => {
      const three = workflow();
      const andante = bench.andante(three);
      const { executionId } = await andante.execute(three.id, {});
      const answer = (stepId?: string) => andante.resume(three.id, executionId, 1, { stepId });
      await expect(answer()).rejects.toMatchObject({
        status: 400,
        message:
          "Cannot resume: several steps are waiting: name one with stepId (all/a, all/b, all/inner/a, all/inner/c)",
      });
      await expect(answer("a")).rejects.toMatchObject({
        status: 400,
        message: 'Cannot resume: the step id "a" is ambiguous: name one with stepId (all/a, all/inner/a)',
      });
      await expect(answer("nowhere")).rejects.toMatchObject({
        status: 400,
        code: "resume-target",
        message: 'Cannot resume: the workflow has no waiting or earlier step "nowhere"',
      });
    });
  });
});
