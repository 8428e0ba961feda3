// The cases that every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type {
  Cancel,
  ClaimAbandoned,
  Commit,
  NewExecution,
  Resume,
  Store,
  Suspension,
} from "../store/store.ts";
import type { NewStoredEvent } from "../store/stored-event.ts";
import { textLength } from "../store/text-length.ts";
import { pauseOf } from "./pause-of.ts";

/** Milliseconds that nothing in a test outlives. */
const longLease = 60_000;

export function event(type: string, fields: Partial<NewStoredEvent> = {}): NewStoredEvent {
  const none = { path: null, stepIndex: null, stepType: null, value: null, detail: null };
  return { ...none, timestamp: 1_000, type, ...fields };
}

export function execution(fields: Partial<NewExecution> = {}): NewExecution {
  const made = {
    executionId: randomUUID(),
    workflowId: "publish",
    input: '{"topic":"walking"}',
    context: "{}",
    userId: null,
    conversationId: null,
    startAt: 1_000,
    timeoutAt: null,
    claim: { owner: "here", token: "token" },
    events: [event("workflow-start")],
    ...fields,
  };
  commits.delete(`${made.executionId} ${made.claim.token}`);
  return made;
}

export function suspension(fields: Partial<Suspension> = {}): Suspension {
  const suspensionId = randomUUID();
  const never = { deadline: null, onDeadline: null };
  const common = { suspensionId, path: "gate", stepIndex: 0, reason: "", data: null, suspendedAt: 2_000 };
  return { ...common, ...never, ...fields };
}

/** How many commits were made under each claim. */
const commits = new Map<string, number>();

export function commitOf(executionId: string, fields: Partial<Commit> = {}): Commit {
  const { token = "token" } = fields;
  const claim = `${executionId} ${token}`;
  const number = (commits.get(claim) ?? 0) + 1;
  commits.set(claim, number);
  const nothing = {
    number,
    usage: null,
    events: [],
    open: [],
    following: [],
    closeBelow: [],
    timers: [],
    clear: [],
    stepIndex: 0,
    progress: false,
    end: null,
    idle: null,
  };
  return { executionId, token, ...nothing, ...fields };
}

export function cancelOf(executionId: string, fields: Partial<Cancel> = {}): Cancel {
  const ended = { key: randomUUID(), status: "cancelled", error: null, due: null } as const;
  return { executionId, event: event("workflow-cancelled"), ...ended, ...fields };
}

const completed = { status: "completed", result: '"done"', error: null } as const;

export function storeCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store`, () => {
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
      await store.heartbeat({ owner: "here", lease: longLease });
      for (const owner of ["there", "dead"]) await store.heartbeat({ owner, lease: 0 });
    });

    const pause = async (executionId: string, reason = "") => {
      const suspensionId = randomUUID();
      const result = await store.pause(
        pauseOf(executionId, { suspensionId, reason, at: 3_000, userId: "ada" }),
      );
      return { suspensionId, result };
    };
    const stateOf = async (executionId: string) => {
      const state = await store.state(executionId);
      if (state === undefined) throw new Error(`no execution ${executionId}`);
      return state;
    };
    const eventsOf = (executionId: string) => store.events({ executionId, after: 0, limit: 10_000 });
    const typesOf = async (executionId: string) => (await eventsOf(executionId)).map(({ type }) => type);
    const created = async (fields: Partial<NewExecution> = {}) => {
      const made = execution({ workflowId, ...fields });
      await store.create(made);
      return made.executionId;
    };
    const suspended = async (suspensions: readonly Suspension[], fields: Partial<NewExecution> = {}) => {
      const executionId = await created(fields);
      const token = fields.claim?.token ?? "token";
      await store.commit(commitOf(executionId, { token, open: suspensions }));
      return executionId;
    };
    const resumeOf = (executionId: string, fields: Partial<Resume>): Resume => ({
      executionId,
      suspensionIds: [],
      rewind: null,
      events: [event("workflow-resumed")],
      claim: { owner: "there", token: "new-token" },
      byDeadline: false,
      ...fields,
    });

    describe("create", () => {
      test("keeps the execution and its first events", async () => {
        const made = execution({ userId: "ada", conversationId: "talk", context: '{"a":1}' });
        expect(await store.create(made)).toEqual({ created: true });
        const { execution: row, suspensions } = await stateOf(made.executionId);
        expect(row).toEqual({
          executionId: made.executionId,
          kind: "workflow",
          workflowId: "publish",
          agentId: null,
          status: "running",
          input: '{"topic":"walking"}',
          context: '{"a":1}',
          userId: "ada",
          conversationId: "talk",
          startAt: 1_000,
          timeoutAt: null,
          endAt: null,
          result: null,
          error: null,
          sequence: 1,
          stepIndex: 0,
          paused: false,
          resumes: 0,
          recoveries: 0,
          tags: [],
          definition: null,
          parked: null,
          replayOf: null,
          trace: null,
          links: null,
        });
        expect(suspensions).toEqual([]);
        expect(await eventsOf(made.executionId)).toEqual([{ ...event("workflow-start"), sequence: 1 }]);
      });

      test("leaves everything as it is when the id exists", async () => {
        const first = execution();
        await store.create(first);
        const claim = { owner: "there", token: "other" };
        const again = {
          ...first,
          claim,
          input: '"other"',
          workflowId: "other",
          events: [event("a"), event("b")],
        };
        expect(await store.create(again)).toEqual({ created: false });
        expect((await stateOf(first.executionId)).execution.input).toBe(first.input);
        expect(await typesOf(first.executionId)).toEqual(["workflow-start"]);
      });

      test("of many at once with the same id makes one", async () => {
        const made = execution();
        const results = await Promise.all(
          Array.from({ length: 50 }, (_, n) =>
            store.create({ ...made, claim: { owner: "here", token: `token-${n}` } }),
          ),
        );
        expect(results.filter((result) => result.created)).toHaveLength(1);
        expect(await typesOf(made.executionId)).toEqual(["workflow-start"]);
      });
    });

    describe("commit", () => {
      test("appends outcomes, then following events, and moves the step", async () => {
        const executionId = await created();
        const commit = { events: [event("step-complete")], following: [event("step-start")], stepIndex: 3 };
        const result = await store.commit(commitOf(executionId, commit));
        expect(result).toEqual({ kind: "ok", sequence: 3, idle: false });
        expect(await typesOf(executionId)).toEqual(["workflow-start", "step-complete", "step-start"]);
        expect((await stateOf(executionId)).execution).toMatchObject({ sequence: 3, stepIndex: 3 });
      });

      test("ends the execution with its result and closes open suspensions", async () => {
        const executionId = await suspended([suspension()]);
        const following = [event("workflow-complete", { timestamp: 5_000 })];
        const result = await store.commit(commitOf(executionId, { following, end: completed }));
        expect(result).toEqual({ kind: "ok", sequence: 2, idle: false });
        const state = await stateOf(executionId);
        expect(state.execution).toMatchObject({ status: "completed", result: '"done"', endAt: 5_000 });
        expect(state.suspensions).toEqual([]);
      });

      test("of a wrong token is fenced and leaves no trace", async () => {
        const executionId = await created();
        const commit = { token: "other", events: [event("step-complete")], open: [suspension()] };
        expect((await store.commit(commitOf(executionId, commit))).kind).toBe("fenced");
        expect(await typesOf(executionId)).toEqual(["workflow-start"]);
        expect((await stateOf(executionId)).suspensions).toEqual([]);
      });

      test("of an unknown execution is fenced", async () => {
        expect((await store.commit(commitOf("nobody"))).kind).toBe("fenced");
      });

      test("after the end returns ended and leaves no trace", async () => {
        const executionId = await created();
        await store.cancel(cancelOf(executionId));
        const commit = commitOf(executionId, { events: [event("step-complete")] });
        expect((await store.commit(commit)).kind).toBe("ended");
        expect(await typesOf(executionId)).toEqual(["workflow-start", "workflow-cancelled"]);
      });

      test("while paused records outcomes and suspensions, but nothing that follows", async () => {
        const inside = suspension({ path: "all/old" });
        const executionId = await suspended([inside]);
        await store.resume(resumeOf(executionId, { suspensionIds: [inside.suspensionId] }));
        await pause(executionId);
        const gate = suspension({ path: "all/gate" });
        const result = await store.commit(
          commitOf(executionId, {
            events: [event("step-complete")],
            open: [gate],
            following: [event("step-start")],
            closeBelow: ["all"],
            stepIndex: 7,
            end: completed,
          }),
        );
        expect(result).toEqual({ kind: "paused", sequence: 4, idle: false });
        expect(await typesOf(executionId)).toEqual([
          "workflow-start",
          "workflow-resumed",
          "workflow-suspended",
          "step-complete",
        ]);
        const state = await stateOf(executionId);
        expect(state.execution).toMatchObject({
          status: "suspended",
          stepIndex: 0,
          endAt: null,
          paused: true,
        });
        expect(state.suspensions.map(({ path }) => path)).toEqual(["all/gate", null]);
      });

      test("of only outcomes and following events keeps to the pause too, and so does an end", async () => {
        const executionId = await created();
        await pause(executionId);
        const plain = { events: [event("step-complete")], following: [event("step-start")], stepIndex: 7 };
        const paused = { kind: "paused", idle: false };
        expect(await store.commit(commitOf(executionId, plain))).toEqual({ ...paused, sequence: 3 });
        const last = { following: [event("workflow-complete")], end: completed };
        expect(await store.commit(commitOf(executionId, last))).toEqual({ ...paused, sequence: 3 });
        expect(await typesOf(executionId)).toEqual(["workflow-start", "workflow-suspended", "step-complete"]);
        const { execution: row } = await stateOf(executionId);
        expect(row).toMatchObject({ status: "suspended", stepIndex: 0, endAt: null, sequence: 3 });
      });

      test("while another branch waits leaves the execution suspended", async () => {
        const gate = suspension();
        const executionId = await suspended([gate]);
        await store.commit(
          commitOf(executionId, { events: [event("step-complete")], following: [event("step-start")] }),
        );
        const state = await stateOf(executionId);
        expect(state.execution).toMatchObject({ status: "suspended", sequence: 3 });
        expect(state.suspensions).toEqual([gate]);
      });

      test("numbers events without gaps, also when many executions commit at once", async () => {
        const ids = await Promise.all(Array.from({ length: 40 }, () => created()));
        const rounds = Array.from({ length: 10 }, (_, round) => round);
        await Promise.all(
          rounds.flatMap((round) =>
            ids.map((executionId) =>
              store.commit(
                commitOf(executionId, {
                  events: [event(`outcome-${round}`)],
                  following: [event(`start-${round}`)],
                }),
              ),
            ),
          ),
        );
        for (const executionId of ids) {
          const events = await eventsOf(executionId);
          expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 21 }, (_, n) => n + 1));
          expect(events.map(({ type }) => type)).toEqual([
            "workflow-start",
            ...rounds.flatMap((round) => [`outcome-${round}`, `start-${round}`]),
          ]);
          expect((await stateOf(executionId)).execution.sequence).toBe(21);
        }
      });
    });

    describe("suspensions", () => {
      test("make the execution suspended while one is open, in the order in which they opened", async () => {
        const first = suspension({ path: "all/a", suspendedAt: 1, reason: "first", data: "[1]" });
        const second = suspension({ path: "all/b", suspendedAt: 2 });
        const executionId = await suspended([second, first]);
        const state = await stateOf(executionId);
        expect(state.execution.status).toBe("suspended");
        expect(state.suspensions).toEqual([first, second]);
        await store.resume(resumeOf(executionId, { suspensionIds: [first.suspensionId] }));
        expect((await stateOf(executionId)).execution.status).toBe("suspended");
        await store.resume(resumeOf(executionId, { suspensionIds: [second.suspensionId] }));
        expect((await stateOf(executionId)).execution.status).toBe("running");
      });

      test("at or below a container that ends are closed, its neighbours' stay open", async () => {
        const inside = ["a/x", "a/y/z", "a[0]/x", "a", "a#call[0].tool[1]", "a[2]#condition", "a/b#call[1]"];
        const paths = [...inside, "ab/x", "ab#call[0]", "A/x", "b/a/x", "a%/x", "a_/x", "%/x"];
        const executionId = await suspended(paths.map((path, at) => suspension({ path, suspendedAt: at })));
        await store.commit(commitOf(executionId, { following: [event("end")], closeBelow: ["a"] }));
        const open = async () => (await stateOf(executionId)).suspensions.map(({ path }) => path);
        expect(await open()).toEqual(["ab/x", "ab#call[0]", "A/x", "b/a/x", "a%/x", "a_/x", "%/x"]);
        await store.commit(commitOf(executionId, { following: [event("end")], closeBelow: ["a_", "%"] }));
        expect(await open()).toEqual(["ab/x", "ab#call[0]", "A/x", "b/a/x", "a%/x"]);
        expect((await stateOf(executionId)).execution.status).toBe("suspended");
        const rest = ["ab", "A", "b"];
        await store.commit(commitOf(executionId, { following: [event("end")], closeBelow: rest }));
        expect(await open()).toEqual(["a%/x"]);
      });

      test("of a step that an outcome ends are closed, also while the execution is paused", async () => {
        const paths = ["ask#call[0].tool[1]", "ask", "asks#call[0]", "all/ask#call[0]"];
        const executionId = await suspended(paths.map((path, at) => suspension({ path, suspendedAt: at })));
        const open = async () => (await stateOf(executionId)).suspensions.map(({ path }) => path);
        const ends = (step: string, fields: Partial<Commit> = {}) =>
          store.commit(
            commitOf(executionId, { events: [event("step-error")], closeEnded: [step], ...fields }),
          );
        await ends("ask");
        expect(await open()).toEqual(["asks#call[0]", "all/ask#call[0]"]);
        // Opened and closed at once.
        await ends("late", { open: [suspension({ path: "late#call[0]" })] });
        expect(await open()).toEqual(["asks#call[0]", "all/ask#call[0]"]);
        expect((await stateOf(executionId)).execution.status).toBe("suspended");
        await ends("asks", { closeBelow: ["all"] });
        expect((await stateOf(executionId)).execution.status).toBe("running");
        await pause(executionId);
        await ends("other", { open: [suspension({ path: "ask#call[0]" })] });
        const result = await ends("ask", { closeBelow: ["all"] });
        expect(result.kind).toBe("paused");
        expect(await open()).toEqual([null]);
        expect((await stateOf(executionId)).execution).toMatchObject({ status: "suspended", paused: true });
      });

      test("opened and closed by the same commit leave the execution running", async () => {
        const executionId = await created();
        const commit = { open: [suspension({ path: "race/gate" })], closeBelow: ["race"] };
        await store.commit(commitOf(executionId, commit));
        const state = await stateOf(executionId);
        expect(state.execution.status).toBe("running");
        expect(state.suspensions).toEqual([]);
      });
    });

    describe("idle", () => {
      test("releases the claim and records its event", async () => {
        const gate = suspension();
        const executionId = await created();
        const idle = { resumes: 0, event: event("workflow-suspended") };
        const result = await store.commit(commitOf(executionId, { open: [gate], idle }));
        expect(result).toEqual({ kind: "ok", sequence: 2, idle: true });
        expect((await store.commit(commitOf(executionId))).kind).toBe("fenced");
        const query = {
          owner: "there",
          key: randomUUID(),
          workflowIds: [workflowId],
          limit: 10,
          suspects: false,
          suspectAfter: 2,
        };
        await store.heartbeat({ owner: "here", lease: 0 });
        expect(await store.claimAbandoned(query)).toEqual([]);
        const resume = resumeOf(executionId, { suspensionIds: [gate.suspensionId] });
        expect((await store.resume(resume)).kind).toBe("claimed");
      });

      test("is refused when a resume has arrived meanwhile; the rest of the commit counts", async () => {
        const gate = suspension({ path: "all/gate" });
        const executionId = await suspended([gate]);
        const resume = resumeOf(executionId, { suspensionIds: [gate.suspensionId] });
        expect((await store.resume(resume)).kind).toBe("owned");
        const idle = { resumes: 0, event: event("workflow-suspended") };
        const late = commitOf(executionId, { events: [event("step-complete")], idle });
        expect(await store.commit(late)).toEqual({ kind: "ok", sequence: 3, idle: false });
        expect(await typesOf(executionId)).toEqual(["workflow-start", "workflow-resumed", "step-complete"]);
        expect((await store.commit(commitOf(executionId))).kind).toBe("ok");
      });

      test("while paused releases the claim too", async () => {
        const executionId = await created();
        await pause(executionId);
        const result = await store.commit(commitOf(executionId, { idle: { resumes: 0, event: null } }));
        expect(result).toEqual({ kind: "paused", sequence: 2, idle: true });
        expect((await store.commit(commitOf(executionId))).kind).toBe("fenced");
      });
    });

    describe("pause", () => {
      test("suspends at the step that runs, with an event of its own", async () => {
        const executionId = await created();
        await store.commit(commitOf(executionId, { following: [event("step-start")], stepIndex: 4 }));
        const { suspensionId, result } = await pause(executionId, "lunch");
        const place = { suspensionId, path: null, stepIndex: 4, reason: "lunch", suspendedAt: 3_000 };
        expect(result).toMatchObject({ kind: "paused", suspension: place, event: { sequence: 3 } });
        const state = await stateOf(executionId);
        expect(state.execution).toMatchObject({ status: "suspended", paused: true, sequence: 3 });
        expect(state.suspensions).toEqual([suspension({ ...place, data: null })]);
        const last = (await eventsOf(executionId)).at(-1);
        expect(last).toMatchObject({
          sequence: 3,
          type: "workflow-suspended",
          timestamp: 3_000,
          stepIndex: 4,
        });
        expect(JSON.parse(last?.detail ?? "")).toMatchObject({ userId: "ada", reason: "lunch" });
      });

      test("is refused while suspended and after the end, saying why", async () => {
        const refusal = async (executionId: string) => (await pause(executionId)).result;
        const waiting = await suspended([suspension()]);
        expect(await refusal(waiting)).toEqual({ kind: "refused", status: "suspended" });
        const paused = await created();
        await pause(paused);
        expect(await refusal(paused)).toEqual({ kind: "refused", status: "suspended" });
        const ended = await created();
        await store.commit(commitOf(ended, { end: completed }));
        expect(await refusal(ended)).toEqual({ kind: "refused", status: "completed" });
        expect((await refusal("nobody")).kind).toBe("refused");
      });
    });

    describe("resume", () => {
      test("of a hundred at once exactly one wins", async () => {
        const gate = suspension();
        const executionId = await suspended([gate]);
        const results = await Promise.all(
          Array.from({ length: 100 }, (_, n) =>
            store.resume(
              resumeOf(executionId, {
                suspensionIds: [gate.suspensionId],
                events: [event("workflow-resumed", { value: String(n) })],
                claim: { owner: "there", token: `token-${n}` },
              }),
            ),
          ),
        );
        const winners = results.flatMap((result, n) => (result.kind === "refused" ? [] : [n]));
        expect(winners).toHaveLength(1);
        const events = await eventsOf(executionId);
        expect(events.map(({ value }) => value)).toEqual([null, String(winners[0])]);
      });

      test("finds the schema of its resume data where the suspension has one", async () => {
        const open = suspension({ resumeSchema: '{"type":"string"}' });
        const executionId = await suspended([open]);
        expect((await stateOf(executionId)).suspensions).toEqual([open]);
      });

      test("closes all of its suspensions or none", async () => {
        const [a, b] = [suspension({ path: "a" }), suspension({ path: "b" })];
        const executionId = await suspended([a, b]);
        const one = resumeOf(executionId, { suspensionIds: [a.suspensionId] });
        await store.resume(one);
        const claim = { owner: "there", token: "another-token" };
        const both = { suspensionIds: [b.suspensionId, a.suspensionId], claim };
        expect((await store.resume(resumeOf(executionId, both))).kind).toBe("refused");
        expect((await stateOf(executionId)).suspensions).toEqual([b]);
      });

      test("of another execution's suspension is refused", async () => {
        const gate = suspension();
        await suspended([gate]);
        const other = await suspended([suspension()]);
        const resume = resumeOf(other, { suspensionIds: [gate.suspensionId] });
        expect((await store.resume(resume)).kind).toBe("refused");
      });

      test("leaves the run to a live owner", async () => {
        const gate = suspension();
        const executionId = await suspended([gate]);
        const result = await store.resume(resumeOf(executionId, { suspensionIds: [gate.suspensionId] }));
        expect(result).toMatchObject({ kind: "owned", events: [{ type: "workflow-resumed", sequence: 2 }] });
        expect((await store.commit(commitOf(executionId))).kind).toBe("ok");
        expect((await stateOf(executionId)).execution.resumes).toBe(1);
      });

      test("takes the run from an owner whose lease has expired and fences it", async () => {
        const gate = suspension();
        const executionId = await suspended([gate]);
        await store.heartbeat({ owner: "here", lease: 0 });
        const result = await store.resume(resumeOf(executionId, { suspensionIds: [gate.suspensionId] }));
        expect(result.kind).toBe("claimed");
        expect((await store.commit(commitOf(executionId))).kind).toBe("fenced");
        expect((await store.commit(commitOf(executionId, { token: "new-token" }))).kind).toBe("ok");
      });

      test("never takes a run from the asker itself, however late its heartbeat is", async () => {
        const gate = suspension();
        const executionId = await suspended([gate]);
        await store.heartbeat({ owner: "here", lease: 0 });
        const claim = { owner: "here", token: "new-token" };
        const resume = resumeOf(executionId, { suspensionIds: [gate.suspensionId], claim });
        expect((await store.resume(resume)).kind).toBe("owned");
        expect((await store.commit(commitOf(executionId))).kind).toBe("ok");
      });

      test("lifts a pause only when it names it", async () => {
        const executionId = await created();
        const { suspensionId } = await pause(executionId);
        const gate = suspension();
        await store.commit(commitOf(executionId, { open: [gate] }));
        await store.resume(resumeOf(executionId, { suspensionIds: [gate.suspensionId] }));
        expect((await stateOf(executionId)).execution).toMatchObject({ status: "suspended", paused: true });
        await store.resume(resumeOf(executionId, { suspensionIds: [suspensionId] }));
        expect((await stateOf(executionId)).execution).toMatchObject({ status: "running", paused: false });
      });

      test("counts each of its events as a resume", async () => {
        const executionId = await created();
        const { suspensionId } = await pause(executionId);
        const gate = suspension();
        await store.commit(commitOf(executionId, { open: [gate] }));
        const events = [event("workflow-resumed"), event("workflow-resumed", { path: "gate" })];
        const suspensionIds = [suspensionId, gate.suspensionId];
        await store.resume(resumeOf(executionId, { suspensionIds, events }));
        expect((await stateOf(executionId)).execution).toMatchObject({ resumes: 2, status: "running" });
      });

      test("that rewinds closes everything, takes over from a live owner and fences it", async () => {
        const [a, b] = [suspension({ path: "a" }), suspension({ path: "b" })];
        const executionId = await suspended([a, b]);
        await store.commit(commitOf(executionId, { following: [event("step-start")], stepIndex: 5 }));
        const result = await store.resume(
          resumeOf(executionId, {
            suspensionIds: [a.suspensionId],
            rewind: { stepIndex: 2 },
            events: [event("execution-rewound")],
          }),
        );
        expect(result.kind).toBe("claimed");
        const state = await stateOf(executionId);
        expect(state.execution).toMatchObject({ status: "running", stepIndex: 2, resumes: 1 });
        expect(state.suspensions).toEqual([]);
        expect((await store.commit(commitOf(executionId))).kind).toBe("fenced");
        expect((await store.commit(commitOf(executionId, { token: "new-token" }))).kind).toBe("ok");
      });

      test("of a running, ended or unknown execution is refused", async () => {
        const running = await created();
        const gate = suspension();
        const ended = await suspended([gate]);
        await store.cancel(cancelOf(ended));
        for (const executionId of [running, ended, "nobody"]) {
          const resume = resumeOf(executionId, { suspensionIds: [gate.suspensionId] });
          expect(await store.resume(resume)).toEqual({ kind: "refused" });
        }
      });
    });

    describe("cancel", () => {
      test("ends the execution, closes open suspensions and fences its owner", async () => {
        const executionId = await suspended([suspension()]);
        const result = await store.cancel(
          cancelOf(executionId, { event: event("workflow-cancelled", { timestamp: 9_000 }) }),
        );
        expect(result).toMatchObject({ kind: "cancelled", event: { sequence: 2 } });
        const state = await stateOf(executionId);
        expect(state.execution).toMatchObject({
          status: "cancelled",
          endAt: 9_000,
          sequence: 2,
          paused: false,
        });
        expect(state.suspensions).toEqual([]);
      });

      test("and the final commit: the first wins, whichever it is", async () => {
        const cancel = (executionId: string) => store.cancel(cancelOf(executionId));
        const final = (executionId: string) =>
          store.commit(commitOf(executionId, { following: [event("workflow-complete")], end: completed }));
        for (let round = 0; round < 20; round++) {
          const executionId = await created();
          const [cancelled, committed] =
            round % 2 === 0
              ? await Promise.all([cancel(executionId), final(executionId)])
              : (await Promise.all([final(executionId), cancel(executionId)])).toReversed();
          const { status, sequence } = (await stateOf(executionId)).execution;
          expect(sequence).toBe(2);
          expect([cancelled?.kind, committed?.kind]).toEqual(
            status === "cancelled" ? ["cancelled", "ended"] : ["refused", "ok"],
          );
        }
      });

      test("is refused after the end, saying which", async () => {
        const executionId = await created();
        await store.commit(commitOf(executionId, { end: { ...completed, status: "error" } }));
        expect(await store.cancel(cancelOf(executionId))).toEqual({ kind: "refused", status: "error" });
      });
    });

    describe("claimAbandoned", () => {
      const poll = (fields: Partial<ClaimAbandoned> = {}) =>
        store.claimAbandoned({
          owner: "there",
          key: randomUUID(),
          workflowIds: [workflowId],
          limit: 10,
          suspects: false,
          // The largest number, as for turns: none is a suspect.
          suspectAfter: Number.MAX_SAFE_INTEGER,
          ...fields,
        });

      test("finds only executions that have work to do and no live owner", async () => {
        const dead = { owner: "dead", token: "t" };
        const abandoned = await created({ claim: dead });
        await created();
        const ended = await created({ claim: dead });
        await store.cancel(cancelOf(ended));
        const resting = await created({ claim: dead });
        const idle = { resumes: 0, event: null };
        await store.commit(commitOf(resting, { token: "t", open: [suspension()], idle }));
        const claimed = await poll();
        expect(claimed.map(({ row }) => row.executionId)).toEqual([abandoned]);
        await store.heartbeat({ owner: "there", lease: longLease });
        expect(await poll({ owner: "elsewhere" })).toEqual([]);
      });

      test("gives a new token and fences the old one", async () => {
        const executionId = await created({ claim: { owner: "dead", token: "old" } });
        const [claimed] = await poll();
        expect((await store.commit(commitOf(executionId, { token: "old" }))).kind).toBe("fenced");
        const now = commitOf(executionId, { token: claimed?.token ?? "" });
        expect((await store.commit(now)).kind).toBe("ok");
      });

      test("keeps suspects apart: those recovered too often without progress, fewest recoveries first", async () => {
        const names = ["calm", "twice", "thrice"].map((name) => `${workflowId}-${name}`);
        const [calm = "", twice = "", thrice = ""] = names;
        for (const name of [thrice, twice, calm]) await created({ workflowId: name });
        const crash = async (owner: string, workflowIds: string[]) => {
          for (const each of ["here", owner]) await store.heartbeat({ owner: each, lease: 0 });
          await poll({ owner, workflowIds });
        };
        await crash("first", [twice, thrice]);
        await crash("second", [twice, thrice]);
        await crash("third", [thrice]);
        const found = async (suspects: boolean) =>
          (await poll({ workflowIds: names, suspects, suspectAfter: 2 })).map(({ row }) => row.workflowId);
        expect(await found(true)).toEqual([twice, thrice]);
        expect(await found(false)).toEqual([calm]);
      });

      test("takes only the workflows asked for, oldest first, and no more than the limit", async () => {
        const claim = { owner: "dead", token: "t" };
        const third = await created({ claim, startAt: 3 });
        const first = await created({ claim, startAt: 1 });
        const second = await created({ claim, startAt: 2 });
        await created({ claim, startAt: 0, workflowId: randomUUID() });
        const ids = (claimed: Awaited<ReturnType<typeof poll>>) => claimed.map(({ row }) => row.executionId);
        expect(ids(await poll({ limit: 2 }))).toEqual([first, second]);
        await store.heartbeat({ owner: "there", lease: longLease });
        expect(ids(await poll())).toEqual([third]);
        expect(await poll({ workflowIds: [] })).toEqual([]);
        await store.heartbeat({ owner: "there", lease: 0 });
        expect(ids(await poll({ except: [second, first] }))).toEqual([third]);
      });

      test("takes one alone, when it is abandoned, and counts it", async () => {
        const dead = { owner: "dead", token: "t" };
        const [one, owned, ended] = [await created({ claim: dead }), await created(), await created()];
        await created({ claim: dead });
        await store.cancel(cancelOf(ended));
        const idle = { resumes: 0, event: null };
        const resting = await created({ claim: dead });
        await store.commit(commitOf(resting, { token: "t", idle }));
        for (const only of [owned, ended, resting, randomUUID()]) expect(await poll({ only })).toEqual([]);
        const suspects = { suspects: true, suspectAfter: 1, limit: 1, only: one };
        expect(await poll(suspects)).toEqual([]);
        const [claimed] = await poll({ only: one, limit: 1, except: [one] });
        expect(claimed?.row).toMatchObject({ executionId: one, recoveries: 1 });
        expect((await poll(suspects)).map(({ row }) => row.recoveries)).toEqual([2]);
        await store.heartbeat({ owner: "there", lease: longLease });
        expect(await poll(suspects)).toEqual([]);
      });

      test("counts recoveries after crashes and forgets them only with progress", async () => {
        const executionId = await created({ claim: { owner: "dead", token: "t" } });
        for (const recoveries of [1, 2, 3]) {
          const [claimed] = await poll();
          expect(claimed?.row.recoveries).toBe(recoveries);
        }
        const [claimed] = await poll();
        const recoveriesAfter = async (fields: Partial<Commit>) => {
          await store.commit(commitOf(executionId, { token: claimed?.token ?? "", ...fields }));
          return (await stateOf(executionId)).execution.recoveries;
        };
        const events = [event("step")];
        expect(await recoveriesAfter({ events })).toBe(4);
        expect(await recoveriesAfter({ events, open: [suspension()] })).toBe(4);
        expect(await recoveriesAfter({ events, progress: true })).toBe(0);
      });

      test("forgets recoveries also with progress that opens something, or that comes while it is paused", async () => {
        const claim = { owner: "dead", token: "t" };
        const [opening, paused] = [await created({ claim }), await created({ claim })];
        const tokens = new Map((await poll()).map(({ row, token }) => [row.executionId, token]));
        const recoveriesAfter = async (executionId: string, fields: Partial<Commit>) => {
          const token = tokens.get(executionId) ?? "";
          await store.commit(commitOf(executionId, { token, events: [event("step")], ...fields }));
          return (await stateOf(executionId)).execution.recoveries;
        };
        expect(await recoveriesAfter(opening, { progress: true, open: [suspension()] })).toBe(0);
        await pause(paused);
        expect(await recoveriesAfter(paused, {})).toBe(1);
        expect(await recoveriesAfter(paused, { progress: true })).toBe(0);
      });

      test("does not count a claim that was given back in order", async () => {
        const executionId = await created();
        await store.release({ executionId, token: "token" });
        const [claimed] = await poll();
        expect(claimed?.row).toMatchObject({ executionId, recoveries: 0 });
      });

      test("of several pollers at once gives each execution to one", async () => {
        for (let n = 0; n < 30; n++) await created({ claim: { owner: "dead", token: "t" } });
        const owners = Array.from({ length: 4 }, () => randomUUID());
        for (const owner of owners) await store.heartbeat({ owner, lease: longLease });
        const claims = await Promise.all(owners.map((owner) => poll({ owner, limit: 30 })));
        const ids = claims.flat().map(({ row }) => row.executionId);
        expect(ids).toHaveLength(30);
        expect(new Set(ids).size).toBe(30);
      });
    });

    test("health reports that it can be read and written, and that it cannot once it is closed", async () => {
      expect(await store.health()).toMatchObject({ problem: null, restarts: { count: 0, reason: "" } });
      const other = makeStore();
      expect((await other.health()).problem).not.toBeNull();
      await other.open();
      expect((await other.health()).problem).toBeNull();
      await other.close();
      expect((await other.health()).problem).not.toBeNull();
    });

    test("release with a wrong token changes nothing", async () => {
      const executionId = await created();
      await store.release({ executionId, token: "other" });
      expect((await store.commit(commitOf(executionId))).kind).toBe("ok");
    });

    describe("events", () => {
      test("come after a number, in order, as many as asked for", async () => {
        const events = Array.from({ length: 10 }, (_, n) => event(`event-${n + 1}`));
        const executionId = await created({ events });
        const page = await store.events({ executionId, after: 3, limit: 4 });
        expect(page.map(({ sequence, type }) => [sequence, type])).toEqual([
          [4, "event-4"],
          [5, "event-5"],
          [6, "event-6"],
          [7, "event-7"],
        ]);
        expect(await store.events({ executionId, after: 10, limit: 4 })).toEqual([]);
        const long = await created({ events: events.map((each) => ({ ...each, value: '"12345678"' })) });
        const sequences = async (length: number) =>
          (await store.events({ executionId: long, after: 0, limit: 100, length })).map(
            ({ sequence }) => sequence,
          );
        expect(await sequences(1)).toEqual([1]);
        expect(await sequences(15)).toEqual([1, 2]);
        expect(await sequences(Number.MAX_SAFE_INTEGER)).toHaveLength(10);
        expect(await store.events({ executionId: "nobody", after: 0, limit: 4 })).toEqual([]);
      });
    });

    describe("list", () => {
      let fresh: Store;
      beforeEach(async () => {
        fresh = makeStore();
        await fresh.open();
      });
      afterEach(() => fresh.close());
      const added = async (fields: Partial<NewExecution>) => {
        const made = execution(fields);
        await fresh.create(made);
        return made.executionId;
      };
      const ids = async (query: Parameters<Store["list"]>[0]) =>
        (await fresh.list(query)).map(({ executionId }) => executionId);

      test("shows no long values, and a page ends early when it is as long as asked for", async () => {
        await added({ input: '"long"', context: '{"a":1}', userId: "x".repeat(100) });
        const [row] = await fresh.list({ limit: 10 });
        expect(row).toMatchObject({ workflowId: "publish", status: "running", error: null });
        expect(Object.keys(row ?? {})).not.toEqual(expect.arrayContaining(["input"]));
        expect(Object.keys(row ?? {})).not.toEqual(expect.arrayContaining(["context"]));
        expect(Object.keys(row ?? {})).not.toEqual(expect.arrayContaining(["result"]));
        for (const startAt of [2_000, 3_000]) await added({ startAt, userId: "x".repeat(100) });
        expect(await fresh.list({ limit: 10, length: 1 })).toHaveLength(1);
        expect(await fresh.list({ limit: 10, length: textLength(row ?? {}) + 1 })).toHaveLength(2);
        expect(await fresh.list({ limit: 10, length: 1_000_000 })).toHaveLength(3);
      });

      test("filters by workflow, status, user and time", async () => {
        const a = await added({ startAt: 1, workflowId: "one", userId: "ada" });
        const b = await added({ startAt: 2, workflowId: "two", userId: "ada" });
        const c = await added({ startAt: 3, workflowId: "two", userId: "bob" });
        await fresh.cancel(cancelOf(b));
        const limit = 10;
        expect(await ids({ limit })).toEqual([c, b, a]);
        expect(await ids({ limit, workflowId: "two" })).toEqual([c, b]);
        expect(await ids({ limit, status: "cancelled" })).toEqual([b]);
        expect(await ids({ limit, userId: "ada" })).toEqual([b, a]);
        expect(await ids({ limit, userId: "ada", status: "running" })).toEqual([a]);
        expect(await ids({ limit, from: 2 })).toEqual([c, b]);
        expect(await ids({ limit, to: 2 })).toEqual([a]);
        expect(await ids({ limit, from: 2, to: 3 })).toEqual([b]);
      });

      test("finds ids by their prefix, taken literally", async () => {
        for (const executionId of ["order_1", "orderX1", "order%2", "Order_3", "order", "ordes", "order😀"]) {
          await added({ executionId });
        }
        const found = async (idPrefix: string) => (await ids({ limit: 10, idPrefix })).sort();
        expect(await found("order_")).toEqual(["order_1"]);
        expect(await found("order%")).toEqual(["order%2"]);
        expect(await found("order")).toEqual(["order", "order%2", "orderX1", "order_1", "order😀"]);
      });

      test("pages without gaps or repetitions while new executions arrive", async () => {
        const old: string[] = [];
        for (let n = 0; n < 25; n++) old.push(await added({ startAt: Math.floor(n / 3) }));
        const seen: string[] = [];
        let before: { startAt: number; executionId: string } | undefined;
        for (;;) {
          const page = await fresh.list({ limit: 4, before });
          seen.push(...page.map(({ executionId }) => executionId));
          before = page.at(-1);
          if (page.length < 4) break;
          await added({ startAt: 100 });
        }
        expect([...seen].sort()).toEqual([...old].sort());
      });
    });

    describe("texts", () => {
      const odd = ["\u0000", "a\u0000b", "😀", "e\u0301", "'; drop table executions; --", "\u2028", ""];

      test("of every kind come back as they were", async () => {
        const value = JSON.stringify([...odd, "\ud800", "\udfff\ud800"]);
        const gates = odd.map((reason, at) => suspension({ path: `gate-${at}`, reason, data: value }));
        const executionId = await created({ input: value, context: JSON.stringify({ odd }) });
        await store.commit(
          commitOf(executionId, { open: gates, events: [event("step-complete", { value })] }),
        );
        const state = await stateOf(executionId);
        expect(state.execution.input).toBe(value);
        expect(JSON.parse(state.execution.context)).toEqual({ odd });
        expect(state.suspensions.map(({ reason }) => reason).sort()).toEqual([...odd].sort());
        expect(state.suspensions[0]?.data).toBe(value);
        expect((await eventsOf(executionId)).at(-1)?.value).toBe(value);
      });

      test("of a megabyte come back as they were", async () => {
        const value = JSON.stringify("é".repeat(512 * 1024));
        const executionId = await created({ input: value });
        const end = { ...completed, result: value };
        await store.commit(commitOf(executionId, { events: [event("step-complete", { value })], end }));
        const { execution: row } = await stateOf(executionId);
        expect(row.input === value).toBe(true);
        expect(row.result === value).toBe(true);
        expect((await eventsOf(executionId)).at(-1)?.value === value).toBe(true);
      });
    });

    test("a closed store is not available", async () => {
      const closed = makeStore();
      await closed.open();
      await closed.close();
      await expect(closed.state("any")).rejects.toMatchObject({ code: "store-unavailable", status: 503 });
      await expect(closed.create(execution())).rejects.toMatchObject({ code: "store-unavailable" });
    });
  });
}
