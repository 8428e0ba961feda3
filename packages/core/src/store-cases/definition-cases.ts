// The cases of definitions, parking, tags, replays and retention that every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../store/store.ts";
import { pauseOf } from "./pause-of.ts";
import { cancelOf, commitOf, event, execution, suspension } from "./store-cases.ts";

const lease = 60_000;
/** A replay from the first step. */
const none = { stepIndex: 0, resumes: 0 };

export function definitionCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of definitions`, () => {
    let store: Store;
    /** Each test has a workflow of its own: it does not see the rows of others. */
    let workflowId: string;

    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());
    beforeEach(async () => {
      workflowId = randomUUID();
      await store.heartbeat({ owner: "here", lease });
    });

    const rowOf = async (executionId: string) => {
      const state = await store.state(executionId);
      if (state === undefined) throw new Error(`no execution ${executionId}`);
      return state.execution;
    };
    const claimable = async () => {
      const query = {
        owner: "there",
        key: randomUUID(),
        workflowIds: [workflowId],
        limit: 10,
        suspects: false,
        suspectAfter: 2,
      };
      return (await store.claimAbandoned(query)).map(({ row }) => row.executionId);
    };

    describe("define and outline", () => {
      test("keep an outline once, and the first one counts", async () => {
        const definition = randomUUID();
        expect(await store.outline(definition)).toBeUndefined();
        await store.define({ definition, outline: "[1]" });
        await store.define({ definition, outline: "[2]" });
        expect(await store.outline(definition)).toBe("[1]");
      });

      test("an execution names the one it began with", async () => {
        const made = execution({ workflowId, definition: "d" });
        await store.create(made);
        expect((await rowOf(made.executionId)).definition).toBe("d");
      });
    });

    describe("definitions", () => {
      const hour = 3_600_000;
      const define = (definition: string, at: number) =>
        store.define({ definition, outline: "[]", seen: { workflowId, at } });

      test("are those that processes have registered for a workflow, the most recent first", async () => {
        expect(await store.definitions(workflowId)).toEqual([]);
        await define("one", 1000);
        await define("two", 2000);
        expect(await store.definitions(workflowId)).toEqual([
          { definition: "two", firstAt: 2000, lastAt: 2000 },
          { definition: "one", firstAt: 1000, lastAt: 1000 },
        ]);
        // An earlier release is deployed again.
        await define("one", 2000 + 2 * hour);
        expect(await store.definitions(workflowId)).toEqual([
          { definition: "one", firstAt: 1000, lastAt: 2000 + 2 * hour },
          { definition: "two", firstAt: 2000, lastAt: 2000 },
        ]);
        expect(await store.definitions(randomUUID())).toEqual([]);
      });
    });

    describe("nodes", () => {
      const nodeOf = async (owner: string) =>
        (await store.nodes()).nodes.find((node) => node.owner === owner);

      test("are the processes with a lease, or with executions that no process has taken over", async () => {
        const owner = randomUUID();
        expect(await nodeOf(owner)).toBeUndefined();
        await store.heartbeat({ owner, lease });
        expect(await nodeOf(owner)).toMatchObject({ isAlive: true, executions: 0 });
        const claim = { owner, token: randomUUID() };
        const [one, two] = [execution({ workflowId, claim }), execution({ workflowId, claim })];
        await store.create(one);
        await store.create(two);
        expect(await nodeOf(owner)).toMatchObject({ isAlive: true, executions: 2 });
        await store.heartbeat({ owner, lease: 0 });
        await expect.poll(() => nodeOf(owner)).toMatchObject({ isAlive: false, executions: 2 });
        const { unowned } = await store.nodes();
        await store.release({ executionId: one.executionId, token: claim.token });
        expect(await store.nodes()).toMatchObject({ unowned: unowned + 1 });
        await store.park({ ...two, token: claim.token, reason: "", definition: "d" });
        expect(await nodeOf(owner)).toBeUndefined();
      });

      test("have the description of their last heartbeat with one, where the store keeps it", async () => {
        const owner = randomUUID();
        await store.heartbeat({ owner, lease, about: '{"name":"a"}' });
        await store.heartbeat({ owner, lease });
        expect([null, '{"name":"a"}']).toContain((await nodeOf(owner))?.about);
      });
    });

    describe("adopt", () => {
      test("notes another definition for the owner, and nothing for anybody else", async () => {
        const { executionId, ...made } = execution({ workflowId, definition: "old" });
        await store.create({ executionId, ...made });
        await store.adopt({ executionId, token: "stolen", definition: "wrong" });
        expect((await rowOf(executionId)).definition).toBe("old");
        await store.adopt({ executionId, token: "token", definition: "new" });
        expect((await rowOf(executionId)).definition).toBe("new");
      });
    });

    describe("park and unpark", () => {
      const parked = async (definition?: string) => {
        const made = execution({ workflowId, ...(definition !== undefined && { definition }) });
        await store.create(made);
        const { executionId } = made;
        await store.park({ executionId, token: "token", reason: "it changed", definition: "two" });
        return executionId;
      };

      test("a parked execution has its reason, has no owner, and is not claimed", async () => {
        const executionId = await parked();
        expect(await rowOf(executionId)).toMatchObject({ status: "running", parked: "it changed" });
        expect(await store.commit(commitOf(executionId))).toMatchObject({ kind: "fenced" });
        expect(await claimable()).toEqual([]);
      });

      test("only the owner parks", async () => {
        const { executionId, ...made } = execution({ workflowId });
        await store.create({ executionId, ...made });
        await store.park({ executionId, token: "stolen", reason: "mine", definition: "two" });
        expect((await rowOf(executionId)).parked).toBeNull();
        expect(await store.commit(commitOf(executionId))).toMatchObject({ kind: "ok" });
      });

      test("another definition unparks, the same one and other workflows do not", async () => {
        const executionId = await parked();
        await store.unpark({ workflowId, definition: "two" });
        await store.unpark({ workflowId: "other", definition: "three" });
        expect((await rowOf(executionId)).parked).toBe("it changed");
        await store.unpark({ workflowId, definition: "three" });
        expect((await rowOf(executionId)).parked).toBeNull();
        expect(await claimable()).toEqual([executionId]);
      });

      test("a definition unparks its own, also when it is not the newest", async () => {
        for (const definition of ["one", "three"]) await store.define({ definition, outline: "[]" });
        const [own, another, unknown] = [await parked("one"), await parked("three"), await parked()];
        await store.unpark({ workflowId, definition: "one", own: true });
        expect((await rowOf(own)).parked).toBeNull();
        for (const other of [another, unknown]) expect((await rowOf(other)).parked).toBe("it changed");
      });

      test("being parked is not a crash: it does not count as a recovery", async () => {
        const executionId = await parked();
        await store.unpark({ workflowId, definition: "three" });
        await claimable();
        expect((await rowOf(executionId)).recoveries).toBe(0);
      });

      test("a parked one can be cancelled and is parked no longer", async () => {
        const executionId = await parked();
        expect(await store.cancel(cancelOf(executionId))).toMatchObject({
          kind: "cancelled",
        });
        expect(await rowOf(executionId)).toMatchObject({ status: "cancelled", parked: null });
      });

      test("a resume that is accepted unparks it", async () => {
        const executionId = await parked();
        const suspensionId = randomUUID();
        await store.pause(pauseOf(executionId, { suspensionId }));
        const claim = { owner: "here", token: "new" };
        const events = [event("workflow-resumed")];
        const result = await store.resume({
          executionId,
          suspensionIds: [suspensionId],
          rewind: null,
          events,
          claim,
          byDeadline: false,
        });
        expect(result.kind).toBe("claimed");
        expect((await rowOf(executionId)).parked).toBeNull();
      });
    });

    describe("tags", () => {
      const tagged = async (startAt: number, ...tags: string[]) => {
        const made = execution({ workflowId, startAt, tags, executionId: `${startAt}-${randomUUID()}` });
        await store.create(made);
        return made.executionId;
      };
      const found = async (query: object) =>
        (await store.list({ workflowId, limit: 10, ...query })).map((row) => row.executionId);

      test("are kept in the order given", async () => {
        const executionId = await tagged(1, "b", "a", "ü");
        expect((await rowOf(executionId)).tags).toEqual(["b", "a", "ü"]);
      });

      test("filter a list, newest first, together with other filters and pages", async () => {
        const first = await tagged(1, "red");
        const second = await tagged(2, "red", "blue");
        await tagged(3, "blue");
        const fourth = await tagged(4, "red");
        expect(await found({ tag: "red" })).toEqual([fourth, second, first]);
        expect(await found({ tag: "red", limit: 2 })).toEqual([fourth, second]);
        expect(await found({ tag: "red", before: { startAt: 2, executionId: second } })).toEqual([first]);
        expect(await found({ tag: "red", from: 2, to: 4 })).toEqual([second]);
        expect(await found({ tag: "red", status: "completed" })).toEqual([]);
        expect(await found({ tag: "re" })).toEqual([]);
        expect(await found({ tag: "red", idPrefix: "4-" })).toEqual([fourth]);
      });
    });

    test("a replay keeps its source, its step and the number of its resumes", async () => {
      const of = { executionId: "source", stepId: "review" };
      const made = execution({ workflowId, replay: { of, stepIndex: 2, resumes: 3 } });
      await store.create(made);
      expect(await rowOf(made.executionId)).toMatchObject({ replayOf: of, stepIndex: 2, resumes: 3 });
    });

    test("the replays of an execution are listed, newest first, with other filters and pages", async () => {
      const source = randomUUID();
      const replays: string[] = [];
      for (const startAt of [1, 2, 3]) {
        const of = { executionId: source, stepId: "review" };
        const made = execution({ workflowId, startAt, userId: `u${startAt % 2}`, replay: { of, ...none } });
        await store.create(made);
        replays.unshift(made.executionId);
      }
      const other = { executionId: randomUUID(), stepId: "review" };
      await store.create(execution({ workflowId, replay: { of: other, ...none } }));
      const found = async (query: object) =>
        (await store.list({ replayOf: source, limit: 10, ...query })).map((row) => row.executionId);
      expect(await found({})).toEqual(replays);
      expect(await found({ userId: "u1" })).toEqual([replays[0], replays[2]]);
      expect(await found({ limit: 1, before: { startAt: 3, executionId: replays[0] } })).toEqual([
        replays[1],
      ]);
      expect(await found({ status: "completed" })).toEqual([]);
      expect(await found({ workflowId, from: 2 })).toEqual(replays.slice(0, 2));
      expect(await found({ replayOf: randomUUID() })).toEqual([]);
    });

    test("parked executions are listed, newest first, of one workflow and of all", async () => {
      const park = async (startAt: number, fields: Parameters<typeof execution>[0] = {}) => {
        const made = execution({ workflowId, startAt, ...fields });
        await store.create(made);
        const { executionId, claim } = made;
        await store.park({ executionId, token: claim.token, reason: "changed", definition: "new" });
        return executionId;
      };
      const first = await park(1);
      const second = await park(2, { userId: "ada" });
      const elsewhere = await park(3, { workflowId: randomUUID() });
      await store.create(execution({ workflowId, startAt: 4 }));
      const found = async (query: object) =>
        (await store.list({ parked: true, limit: 100, ...query })).map((row) => row.executionId);
      expect(await found({ workflowId })).toEqual([second, first]);
      expect(await found({ workflowId, userId: "ada" })).toEqual([second]);
      expect(await found({ workflowId, before: { startAt: 2, executionId: second } })).toEqual([first]);
      const ofAll = (await found({})).filter((id) => [first, second, elsewhere].includes(id));
      expect(ofAll).toEqual([elsewhere, second, first]);
      await store.unpark({ workflowId, definition: "newest" });
      expect(await found({ workflowId })).toEqual([]);
    });
  });

  describe(`${name} as a store that forgets`, () => {
    let store: Store;
    beforeEach(async () => {
      store = makeStore();
      await store.open();
      return () => store.close();
    });

    const ended = async (endAt: number, fields: Parameters<typeof execution>[0] = {}) => {
      const made = execution({ executionId: `e-${endAt}`, ...fields });
      await store.create(made);
      const following = [event("workflow-complete", { timestamp: endAt })];
      const end = { status: "completed", result: null, error: null } as const;
      await store.commit(commitOf(made.executionId, { following, end }));
      return made.executionId;
    };
    const left = async () => (await store.list({ limit: 100 })).map((row) => row.executionId).sort();
    const upTo = (endAt: number) => ({ endAt, executionId: "\u{10ffff}" });

    test("deletes executions that ended up to a position, oldest first, in batches", async () => {
      for (const endAt of [4, 1, 3, 2]) await ended(endAt);
      const first = await store.deleteFinished({ upTo: upTo(3), limit: 2, events: 100 });
      expect(first).toEqual({ executionIds: ["e-1", "e-2"], more: true });
      const second = await store.deleteFinished({ upTo: upTo(3), limit: 2, events: 100 });
      expect(second).toEqual({ executionIds: ["e-3"], more: false });
      expect(await left()).toEqual(["e-4"]);
    });

    test("running and waiting executions are never deleted", async () => {
      const running = execution({ executionId: "running" });
      await store.create(running);
      await store.create(execution({ executionId: "waiting" }));
      await store.commit(commitOf("waiting", { open: [suspension()] }));
      await ended(1);
      await store.deleteFinished({ upTo: upTo(Number.MAX_SAFE_INTEGER), limit: 100, events: 100 });
      expect(await left()).toEqual(["running", "waiting"]);
    });

    test("everything that belongs to it goes: journal, tags, timers, and the id is free again", async () => {
      const made = execution({ executionId: "e-1", tags: ["red"] });
      const { executionId } = made;
      await store.create(made);
      await store.commit(commitOf(executionId, { timers: [{ path: "left", dueAt: 5 }] }));
      const end = { status: "completed", result: null, error: null } as const;
      const following = [event("workflow-complete", { timestamp: 1 })];
      await store.commit(commitOf(executionId, { following, end }));
      await store.deleteFinished({ upTo: upTo(1), limit: 10, events: 100 });
      expect(await store.state(executionId)).toBeUndefined();
      expect(await store.events({ executionId, after: 0, limit: 10 })).toEqual([]);
      expect(await store.list({ tag: "red", limit: 10 })).toEqual([]);
      expect(await store.create(execution({ executionId, tags: ["red"] }))).toEqual({ created: true });
      expect(await store.list({ tag: "red", limit: 10 })).toHaveLength(1);
      expect((await store.state(executionId))?.timers).toEqual([]);
      expect(await store.compact({ bytes: 1_000_000 })).toEqual({ more: false });
    });

    test("a long journal goes in several calls, from its end, and its row last", async () => {
      const made = execution({ executionId: "e-1" });
      const { executionId } = made;
      await store.create(made);
      for (let n = 0; n < 8; n++)
        await store.commit(commitOf(executionId, { events: [event("step-start")] }));
      const following = [event("workflow-complete", { timestamp: 1 })];
      const end = { status: "completed", result: null, error: null } as const;
      await store.commit(commitOf(executionId, { following, end }));
      const spend = () => store.deleteFinished({ upTo: upTo(1), limit: 10, events: 4 });
      expect(await spend()).toEqual({ executionIds: [executionId], more: true });
      const rest = await store.events({ executionId, after: 0, limit: 20 });
      expect(rest.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await spend()).toMatchObject({ more: true });
      expect(await spend()).toEqual({ executionIds: [executionId], more: false });
      expect(await left()).toEqual([]);
    });

    test("finds the first execution beyond a count, and none when there are no more", async () => {
      for (const endAt of [1, 2, 3]) await ended(endAt);
      await store.create(execution({ executionId: "running" }));
      expect(await store.endedBeyond({ keep: 2 })).toEqual({ endAt: 1, executionId: "e-1" });
      expect(await store.endedBeyond({ keep: 0 })).toEqual({ endAt: 3, executionId: "e-3" });
      expect(await store.endedBeyond({ keep: 3 })).toBeUndefined();
    });

    test("counts running and waiting executions by workflow", async () => {
      expect(await store.countUnfinished()).toEqual([]);
      await ended(1, { workflowId: "b" });
      await store.create(execution({ executionId: "x", workflowId: "b" }));
      await store.create(execution({ executionId: "y", workflowId: "a" }));
      await store.create(execution({ executionId: "z", workflowId: "b" }));
      await store.pause(pauseOf("z", { suspensionId: "p", at: 1 }));
      expect(await store.countUnfinished()).toEqual([
        { workflowId: "a", count: 1 },
        { workflowId: "b", count: 2 },
      ]);
    });

    test("among those that ended in the same millisecond the id decides", async () => {
      for (const executionId of ["b", "a", "c"]) await ended(1, { executionId });
      const position = await store.endedBeyond({ keep: 1 });
      expect(position).toEqual({ endAt: 1, executionId: "b" });
      await store.deleteFinished({ upTo: { endAt: 1, executionId: "b" }, limit: 10, events: 100 });
      expect(await left()).toEqual(["c"]);
    });
  });
}
