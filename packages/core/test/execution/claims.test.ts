// The claims of a node: those that nothing here holds are released, those that are on their way are not; and a node whose
// lease has ended takes none before a heartbeat under its new name.
import { describe, expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { StoreUnavailableError } from "../../src/errors/index.ts";
import type { Store } from "../../src/store/store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";
import { sharedStore } from "../support/shared-store.ts";
import { type Bench, flow, heldBody, onMemory } from "../support/test-andante.ts";
import { heldOperation, mortalStore } from "../support/wrapped-store.ts";

const lease = 600;
const away = () => new StoreUnavailableError({ cause: new Error("the database is away") });

/** Looks for claims so far; resolves once there were this many more. */
function countedLooks(bench: Bench) {
  let looks = 0;
  const claims: Store["claims"] = (query) => {
    looks++;
    return bench.store.claims(query);
  };
  const more = async (count: number) => {
    const before = looks;
    await expect.poll(() => looks).toBeGreaterThanOrEqual(before + count);
  };
  return { claims, more };
}

onMemory((bench) => {
  describe("a claim that nothing here holds", () => {
    test("of abandoned work, whose result never arrived, is released and the work is done", async () => {
      const held = heldBody("done");
      const workflow = flow().andThen({ id: "held", execute: held.execute });
      const lost: string[] = [];
      const join = sharedStore(bench.store, { lease });
      const claimAbandoned: Store["claimAbandoned"] = async (query) => {
        const claimed = await bench.store.claimAbandoned(query);
        if (claimed.length === 0 || lost.length > 0) return claimed;
        lost.push(...claimed.map(({ row }) => row.executionId));
        throw away();
      };
      const second = bench.andanteWith({ store: join({ claimAbandoned }) }, workflow);
      await second.ready();
      const mortal = mortalStore(bench.store);
      const first = bench.andanteWith({ store: mortal.store }, workflow);
      const { executionId } = await first.start(workflow.id, {});
      await held.started;
      await mortal.die();
      held.finish();
      await expect.poll(async () => (await second.state(workflow.id, executionId)).status).toBe("completed");
      expect(lost).toEqual([executionId]);
      expect((await bench.store.state(executionId))?.execution.recoveries).toBe(0);
    });

    test("of a start whose result never arrived is released too", async () => {
      const workflow = flow().andThen({ id: "one", execute: () => "done" });
      const join = sharedStore(bench.store, { lease });
      const create: Store["create"] = async (execution) => {
        await bench.store.create(execution);
        throw away();
      };
      const node = bench.andanteWith({ store: join({ create }) }, workflow);
      const executionId = `${workflow.id}-lost`;
      await expect(node.start(workflow.id, {}, { executionId })).rejects.toMatchObject({ status: 503 });
      await expect.poll(async () => (await node.state(workflow.id, executionId)).status).toBe("completed");
    });
  });

  test("a claim of a turn whose result never arrived is released, and the turn is continued", async () => {
    const workflow = flow().andThen({ id: "one", execute: () => "done" });
    const begun: string[] = [];
    const beginTurn: Store["beginTurn"] = async (begin) => {
      begun.push(begin.turn.executionId);
      await bench.store.beginTurn(begin);
      throw away();
    };
    const model = controlledModel(() => ({ text: ["hello"] }));
    const agents = { clerk: new Agent({ id: "clerk", model }) };
    const store = sharedStore(bench.store, { lease })({ beginTurn });
    const node = bench.andanteWith({ store, agents }, workflow);
    const conversationId = `talk-${workflow.id}`;
    await expect(node.agents.text("clerk", "hi", { conversationId, userId: "ada" })).rejects.toMatchObject({
      status: 503,
    });
    await expect.poll(() => bench.store.liveTurn(conversationId)).toBeUndefined();
    const [executionId = ""] = begun;
    expect((await bench.store.state(executionId))?.execution).toMatchObject({
      status: "completed",
      recoveries: 0,
    });
    const { messages } = await node.conversations.messages(conversationId);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(bench.logger.messages).toContain(
      "released a claim in the name of this process that nothing here holds",
    );
    expect(bench.logger.messages.join("\n")).not.toContain("lease of this process");
  });

  test("a claim of a resume that failed after its write is released, and the execution continues", async () => {
    const workflow = flow().andThen({
      id: "gate",
      execute: ({ resumeData, suspend }) => resumeData ?? suspend(),
    });
    const join = sharedStore(bench.store, { lease });
    const resume: Store["resume"] = async (argument) => {
      const result = await bench.store.resume(argument);
      if (result.kind === "refused") return result;
      return { ...result, events: result.events.map((event) => ({ ...event, type: "of another release" })) };
    };
    const node = bench.andanteWith({ store: join({ resume }) }, workflow);
    const { executionId } = await node.execute(workflow.id, {});
    await expect(node.resume(workflow.id, executionId, "open")).rejects.toThrow();
    await expect.poll(async () => (await node.state(workflow.id, executionId)).status).toBe("completed");
  });

  test("a claim that is on its way, waits or runs is not released, however long that takes", async () => {
    const held = heldBody("done");
    const workflow = flow()
      .andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() })
      .andThen({ id: "held", execute: held.execute });
    const join = sharedStore(bench.store, { lease });
    const looks = countedLooks(bench);
    const released: string[] = [];
    const release: Store["release"] = (which) => {
      released.push(which.executionId);
      return bench.store.release(which);
    };
    // The store has written it, and its result takes long.
    const gate = Promise.withResolvers<void>();
    const resume: Store["resume"] = async (argument) => {
      const result = await bench.store.resume(argument);
      await gate.promise;
      return result;
    };
    const state = heldOperation(bench.store.state);
    const store = join({ claims: looks.claims, release, resume, state: state.run });
    const node = bench.andanteWith({ store, limits: { running: 1 } }, workflow);
    const { executionId } = await node.execute(workflow.id, {});
    const resumed = node.startResume(workflow.id, executionId, "open");
    await looks.more(3);
    gate.resolve();
    const { result } = await resumed;
    await held.started;
    await looks.more(3);
    held.finish();
    expect(await result()).toMatchObject({ status: "completed", result: "done" });
    expect(held.runs).toBe(1);
    expect(released).toEqual([]);
  });

  describe("a node whose lease has ended", () => {
    const cutOff = () => {
      const workflow = flow().andThen({ id: "one", execute: () => "done" });
      let cut = false;
      let refused = 0;
      const beats: string[] = [];
      const claims: string[] = [];
      const join = sharedStore(bench.store, { lease });
      const store = join({
        heartbeat: async (beat) => {
          if (cut) refused++;
          if (cut) throw away();
          beats.push(beat.owner);
          return bench.store.heartbeat(beat);
        },
        claimAbandoned: (query) => {
          claims.push(query.owner);
          return bench.store.claimAbandoned(query);
        },
      });
      const node = bench.andanteWith({ store }, workflow);
      const rename = async () => {
        cut = true;
        const ended = () =>
          bench.logger.messages.some((line) => line.includes("the lease of this process has ended"));
        await expect.poll(ended).toBe(true);
      };
      const heal = () => {
        cut = false;
      };
      return { workflow, node, beats, claims, rename, heal, refused: () => refused };
    };

    test("neither starts nor claims before a heartbeat under its new name, and does both after it", async () => {
      const { workflow, node, beats, claims, rename, heal, refused } = cutOff();
      await node.execute(workflow.id, {});
      await rename();
      await expect(node.start(workflow.id, {})).rejects.toMatchObject({ code: "store-unavailable" });
      const [before, beatsBefore] = [claims.length, refused()];
      // Polls come as often as heartbeats.
      await expect.poll(refused).toBeGreaterThan(beatsBefore + 3);
      expect(claims.slice(before)).toEqual([]);
      heal();
      await expect.poll(() => claims.length).toBeGreaterThan(before);
      expect(new Set(beats).size).toBeGreaterThan(1);
      for (const owner of claims) expect(beats).toContain(owner);
      expect(await node.execute(workflow.id, {})).toMatchObject({ status: "completed" });
    });

    test("resumes, wakes, expires and replies nothing before that heartbeat, and all of it after it", async () => {
      const clock = new TestClock({ skipSleeps: false });
      const gate = () =>
        flow().andThen({ id: "gate", execute: ({ resumeData, suspend }) => resumeData ?? suspend() });
      const resumed = gate();
      const asleep = flow().andSleep({ id: "sleep", duration: "1h" });
      const expiring = flow().andThen({
        id: "gate",
        execute: ({ resumeData, suspend }) =>
          resumeData ?? suspend("wait", undefined, { deadline: "1h", onDeadline: { resume: "expired" } }),
      });
      let cut = false;
      let looks = 0;
      const beats = new Set<string>();
      const taken: Record<"resume" | "wake" | "beginTurn", string[]> = {
        resume: [],
        wake: [],
        beginTurn: [],
      };
      const store = sharedStore(bench.store, { lease })({
        heartbeat: async (beat) => {
          if (cut) throw away();
          beats.add(beat.owner);
          return bench.store.heartbeat(beat);
        },
        due: (query) => {
          looks++;
          return bench.store.due(query);
        },
        resume: (resume) => {
          taken.resume.push(resume.claim.owner);
          return bench.store.resume(resume);
        },
        wake: (wake) => {
          taken.wake.push(wake.claim.owner);
          return bench.store.wake(wake);
        },
        beginTurn: (begin) => {
          taken.beginTurn.push(begin.turn.claim.owner);
          return bench.store.beginTurn(begin);
        },
      });
      const agents = {
        clerk: new Agent({ id: "clerk", model: controlledModel(() => ({ text: ["hello"] })) }),
      };
      const node = bench.andanteWith({ store, clock, agents }, resumed, asleep, expiring);
      const ask = () =>
        node.agents.text("clerk", "hi", { conversationId: `talk-${resumed.id}`, userId: "ada" });
      const [waits, sleeps, expires] = [
        await node.execute(resumed.id, {}),
        await node.start(asleep.id, {}),
        await node.execute(expiring.id, {}),
      ];
      const isAsleep = async () => (await bench.store.state(sleeps.executionId))?.timers.length;
      await expect.poll(isAsleep).toBe(1);
      await node.settled();

      cut = true;
      const ended = () =>
        bench.logger.messages.some((line) => line.includes("the lease of this process has ended"));
      await expect.poll(ended).toBe(true);
      const before = looks;
      clock.advance("2h");
      const refusal = { code: "store-unavailable" };
      await expect(node.resume(resumed.id, waits.executionId, "open")).rejects.toMatchObject(refusal);
      await expect(ask()).rejects.toMatchObject(refusal);
      // The second look follows the releases after the first.
      await expect.poll(() => looks).toBeGreaterThan(before + 1);
      expect(taken).toEqual({ resume: [], wake: [], beginTurn: [] });

      cut = false;
      const status = async (workflowId: string, executionId: string) =>
        (await node.state(workflowId, executionId)).status;
      const opened = async () =>
        status(resumed.id, (await node.resume(resumed.id, waits.executionId, "open")).executionId);
      await expect.poll(() => opened().catch(() => "refused")).toBe("completed");
      for (const [{ id }, { executionId }] of [
        [asleep, sleeps],
        [expiring, expires],
      ] as const)
        await expect.poll(() => status(id, executionId)).toBe("completed");
      expect((await ask()).text).toBe("hello");
      expect(taken).toMatchObject({ resume: [{}, {}], wake: [{}], beginTurn: [{}] });
      for (const owner of Object.values(taken).flat()) expect(beats).toContain(owner);
    });

    test("does not run an execution created under its old name, but finds it again", async () => {
      const runs = new Map<string, number>();
      const workflow = flow().andThen({
        id: "one",
        execute: ({ executionId }) => {
          runs.set(executionId, (runs.get(executionId) ?? 0) + 1);
          return "done";
        },
      });
      let cut = false;
      const join = sharedStore(bench.store, { lease });
      const create = heldOperation(bench.store.create);
      const owners: string[] = [];
      const tokens: string[] = [];
      const store = join({
        create: (execution) => {
          tokens.push(execution.claim.token);
          return create.run(execution);
        },
        commit: (commit) => {
          expect(tokens).not.toContain(commit.token);
          return bench.store.commit(commit);
        },
        heartbeat: async (beat) => {
          if (cut) throw away();
          owners.push(beat.owner);
          return bench.store.heartbeat(beat);
        },
      });
      const node = bench.andanteWith({ store }, workflow);
      await node.ready();
      create.hold();
      const started = node.execute(workflow.id, {});
      await create.asked;
      cut = true;
      const ended = () =>
        bench.logger.messages.some((line) => line.includes("the lease of this process has ended"));
      await expect.poll(ended).toBe(true);
      create.release();
      cut = false;
      const { executionId, status } = await inTime(started, "the result");
      expect(status).toBe("completed");
      expect(runs.get(executionId)).toBe(1);
    });
  });
});
