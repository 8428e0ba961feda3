// The writes that take one statement, and the rows that they leave; every other case is refused and changes nothing.
// That they do the same as the decisions is tested with random rows elsewhere.
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { commitOf, event, suspension } from "../../store-cases/store-cases.ts";
import type { Commit, Resume } from "../store.ts";
import { migrate } from "./migrate.ts";
import { packCommit } from "./packed-commit.ts";
import { quickCommit, quickResume } from "./quick-statements.ts";

/** An execution that its owner runs: three events, two commits under the claim. */
function databaseWith(fields: Readonly<Record<string, SQLInputValue>> = {}) {
  const database = new DatabaseSync(":memory:");
  onTestFinished(() => database.close());
  migrate(database);
  const row = {
    ...{ execution_id: "e", workflow_id: "w", status: "running", context: "{}", start_at: 1, sequence: 3 },
    ...{ owner: "here", token: "mine", commits: 2, recoveries: 1, step_index: 0, resumes: 0 },
    ...fields,
  };
  const names = Object.keys(row);
  database
    .prepare(`insert into executions (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`)
    .run(...Object.values(row));
  database.exec(`insert into journal (execution, sequence, events)
    values (1, 3, '[["emitted",5,null,null,null,null,null],["emitted",6,null,null,null,null,null],["emitted",7,null,null,null,null,null]]')`);
  const all = (table: string) => database.prepare(`select * from ${table}`).all();
  const execution = () => all("executions")[0] ?? {};
  const journal = () => all("journal").slice(1);
  const timers = () => all("timers").map(({ path, due_at: dueAt }) => [path, dueAt]);
  return { database, execution, journal, timers, all };
}

const commitWith = (fields: Partial<Commit> = {}): Commit => ({
  ...commitOf("e"),
  ...{ token: "mine", number: 3, after: 3, stepIndex: 2, progress: false, idle: null, end: null },
  ...{ events: [event("step-complete")], following: [event("step-start")] },
  ...fields,
});

describe("a commit", () => {
  const written = { kind: "ok", sequence: 5, idle: false };

  test("that continues moves the row and writes its events with its key", () => {
    const { database, execution, journal, timers } = databaseWith();
    database.exec("insert into timers (execution_id, path, due_at) values ('e', 'old', 1)");
    const commit = commitWith({ timers: [{ path: "new", dueAt: 9 }], clear: ["old"] });
    expect(quickCommit(database)(commit)).toEqual(written);
    expect(execution()).toMatchObject({
      ...{ commits: 3, sequence: 5, step_index: 2, recoveries: 1, status: "running", token: "mine" },
    });
    expect(journal()).toEqual([
      { execution: 1, sequence: 5, events: expect.any(String), write_key: "mine.3.ok" },
    ]);
    expect(timers()).toEqual([["new", 9]]);
  });

  test("that made progress forgets the recoveries", () => {
    const { database, execution } = databaseWith();
    quickCommit(database)(commitWith({ progress: true }));
    expect(execution()).toMatchObject({ recoveries: 0 });
  });

  test("with outcomes or following events alone writes these", () => {
    for (const [fields, types] of [
      [{ following: [] }, ["step-complete"]],
      [{ events: [] }, ["step-start"]],
      [{}, ["step-complete", "step-start"]],
    ] as const) {
      const { database, journal, execution } = databaseWith();
      quickCommit(database)(commitWith(fields));
      expect(JSON.parse(String(journal()[0]?.events)).map(([type]: [string]) => type)).toEqual(types);
      expect(execution()).toMatchObject({ sequence: 3 + types.length });
    }
    const none = databaseWith();
    expect(quickCommit(none.database)(commitWith({ events: [], following: [] }))).toEqual({
      ...{ ...written, sequence: 3 },
    });
    expect(none.journal()).toEqual([]);
  });

  test("that ends writes the outcome, releases the claim and clears its timers", () => {
    const { database, execution, timers } = databaseWith();
    database.exec("insert into timers (execution_id, path, due_at) values ('e', 'old', 1)");
    const end = { status: "completed", result: '"r"', error: null } as const;
    const following = [event("workflow-complete", { timestamp: 8 })];
    expect(quickCommit(database)(commitWith({ end, following, clear: ["old"] }))).toEqual(written);
    expect(execution()).toMatchObject({
      ...{ status: "completed", end_at: 8, result: '"r"', result_at: null, error: null, recoveries: 0 },
      ...{ owner: null, token: null, commits: 3, sequence: 5, step_index: 2 },
    });
    expect(timers()).toEqual([]);
    const long = databaseWith();
    quickCommit(long.database)(commitWith({ end: { ...end, result: { sameAs: -1 } } }));
    expect(long.execution()).toMatchObject({ result: null, result_at: 5 });
  });

  test("that goes idle opens its suspensions and releases the claim", () => {
    const { database, execution, journal, all } = databaseWith({ open_suspensions: 1 });
    const open = [suspension({ suspensionId: "s1" }), suspension({ suspensionId: "s2" })];
    const idle = { resumes: 0, event: event("workflow-suspended") };
    expect(quickCommit(database)(commitWith({ open, idle }))).toEqual({
      ...written,
      sequence: 6,
      idle: true,
    });
    expect(execution()).toMatchObject({
      ...{ status: "suspended", open_suspensions: 3, idle: 1, owner: null, token: null, sequence: 6 },
    });
    expect(journal()).toMatchObject([{ write_key: "mine.3.ok.idle" }]);
    expect(all("suspensions").map(({ suspension_id: id, held }) => [id, held])).toEqual([
      ["s1", 0],
      ["s2", 0],
    ]);
    const sleeping = databaseWith();
    expect(quickCommit(sleeping.database)(commitWith({ idle: { resumes: 0, event: null } }))).toEqual({
      ...{ ...written, idle: true },
    });
    expect(sleeping.execution()).toMatchObject({ status: "running", idle: 1, open_suspensions: 0 });
  });

  test("that closes steps is quick where no suspension is open", () => {
    const closing = { closeBelow: ["a"] };
    expect(quickCommit(databaseWith().database)(commitWith(closing))).toEqual(written);
    expect(quickCommit(databaseWith().database)(commitWith({ closeEnded: ["a"] }))).toEqual(written);
    const open = databaseWith({ open_suspensions: 1 });
    expect(quickCommit(open.database)(commitWith(closing))).toBeUndefined();
    expect(quickCommit(open.database)(commitWith({ closeEnded: ["a"] }))).toBeUndefined();
    expect(quickCommit(open.database)(commitWith())).toEqual(written);
  });

  test("in its packed form does the same", () => {
    const { database, execution, journal } = databaseWith();
    const packed = packCommit(commitWith());
    expect(Array.isArray(packed)).toBe(true);
    expect(quickCommit(database)(packed)).toEqual(written);
    expect(execution()).toMatchObject({ commits: 3, sequence: 5, step_index: 2 });
    expect(journal()).toMatchObject([{ sequence: 5, write_key: "mine.3.ok" }]);
    const ended = databaseWith();
    const end = { status: "error", result: null, error: "{}" } as const;
    const following = [event("workflow-error", { timestamp: 8 })];
    expect(quickCommit(ended.database)(packCommit(commitWith({ end, following })))).toEqual(written);
    expect(ended.execution()).toMatchObject({ status: "error", end_at: 8, error: "{}", token: null });
  });

  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
  const end = { status: "completed", result: null, error: null } as const;
  test.each<[string, Partial<Commit>, Readonly<Record<string, SQLInputValue>>]>([
    ["of another claim", { token: "theirs" }, {}],
    ["that is repeated", { number: 2 }, {}],
    ["after one that is missing", { number: 4 }, {}],
    ["after other events", { after: 2 }, {}],
    ["under a pause", {}, { paused: 1 }],
    ["of an execution that has ended", {}, { token: null }],
    ["with usage", { usage }, {}],
    ["after events of others", { others: { sequence: 3, at: 7 } }, {}],
    ["that opens a suspension and goes on", { open: [suspension()] }, {}],
    [
      "that opens and closes",
      { open: [suspension()], idle: { resumes: 0, event: null }, closeBelow: ["a"] },
      {},
    ],
    ["that ends with a suspension open", { end }, { open_suspensions: 1 }],
    ["that ends and goes idle", { end, idle: { resumes: 0, event: null } }, {}],
    ["that does not know of a resume", { idle: { resumes: 0, event: null } }, { resumes: 1 }],
  ])("%s is left to the decision", (_, fields, row) => {
    const { database, all } = databaseWith(row);
    const before = ["executions", "journal", "suspensions", "timers"].map(all);
    expect(quickCommit(database)(commitWith(fields))).toBeUndefined();
    expect(["executions", "journal", "suspensions", "timers"].map(all)).toEqual(before);
  });
});

test("a commit without the number of the last event is left to the decision", () => {
  const { after: _, ...commit } = commitWith();
  expect(quickCommit(databaseWith().database)(commit)).toBeUndefined();
});

describe("a resume", () => {
  const suspended = { status: "suspended", token: null, owner: null, idle: 1, open_suspensions: 1 };
  const resumeWith = (fields: Partial<Resume> = {}): Resume => ({
    ...{ executionId: "e", suspensionIds: ["s1"], rewind: null, byDeadline: false },
    ...{ events: [event("workflow-resumed", { timestamp: 9 })], claim: { owner: "me", token: "new" } },
    last: { sequence: 3, at: 7 },
    ...fields,
  });
  function resumable(fields: Readonly<Record<string, SQLInputValue>> = {}, path: string | null = "gate") {
    const made = databaseWith({ ...suspended, parked: "changed", ...fields });
    made.database
      .prepare(
        `insert into suspensions (suspension_id, execution_id, path, step_index, reason, suspended_at, held)
         values ('s1', 'e', ?, 0, '', 1, 0), ('s2', 'e', 'other', 0, '', 1, 0)`,
      )
      .run(path);
    return made;
  }

  test("of an idle execution closes its suspension and takes the claim", () => {
    const { database, execution, journal, all } = resumable();
    expect(quickResume(database)(resumeWith())).toEqual({
      kind: "claimed",
      events: [{ ...event("workflow-resumed", { timestamp: 9 }), sequence: 4 }],
    });
    expect(execution()).toMatchObject({
      ...{ status: "running", open_suspensions: 0, owner: "me", token: "new", commits: 0, idle: 0 },
      ...{ sequence: 4, resumes: 1, parked: null },
    });
    expect(journal()).toMatchObject([{ sequence: 4, write_key: "new" }]);
    expect(all("suspensions").map(({ suspension_id: id }) => id)).toEqual(["s2"]);
    const two = resumable({ open_suspensions: 2 });
    quickResume(two.database)(resumeWith());
    expect(two.execution()).toMatchObject({ status: "suspended", open_suspensions: 1 });
  });

  test("is no earlier than the last event", () => {
    const { database } = resumable();
    const early = { events: [event("workflow-resumed", { timestamp: 2 })] };
    expect(quickResume(database)(resumeWith(early))).toMatchObject({ events: [{ timestamp: 7 }] });
  });

  const { last: _, ...unknowing } = resumeWith();
  test.each<[string, Resume, Readonly<Record<string, SQLInputValue>>, (string | null)?]>([
    ["of an unknown last event", unknowing, {}],
    ["of several suspensions", resumeWith({ suspensionIds: ["s1", "s2"] }), {}],
    ["of none", resumeWith({ suspensionIds: [] }), {}],
    ["of one that is closed", resumeWith({ suspensionIds: ["s9"] }), {}],
    ["that goes back", resumeWith({ rewind: { stepIndex: 0 } }), {}],
    ["after a pause", resumeWith({ pausedFor: 5 }), {}],
    ["of a pause", resumeWith(), {}, null],
    ["under a pause", resumeWith(), { paused: 1 }],
    ["of an execution that is claimed", resumeWith(), { token: "theirs" }],
    ["of one that runs", resumeWith(), { status: "running" }],
    ["after another event", resumeWith({ last: { sequence: 2, at: 7 } }), {}],
    ["after an event of another time", resumeWith({ last: { sequence: 3, at: 8 } }), {}],
  ])("%s is left to the decision", (_, resume, row, path) => {
    const { database, all } = resumable(row, path);
    const before = ["executions", "journal", "suspensions"].map(all);
    expect(quickResume(database)(resume)).toBeUndefined();
    expect(["executions", "journal", "suspensions"].map(all)).toEqual(before);
  });
});
