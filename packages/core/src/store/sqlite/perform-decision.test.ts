// Decisions on a database: the facts that they read, and the rows that their changes leave.
import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, test, vi } from "vitest";
import { event, suspension } from "../../store-cases/store-cases.ts";
import type { Changes, Decision, ExecutionRecord, Facts } from "../decide/index.ts";
import { migrate } from "./migrate.ts";
import { performDecision, recordOf } from "./perform-decision.ts";

let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(":memory:");
  migrate(database);
  for (const id of ["e", "f"]) {
    database
      .prepare(
        `insert into executions (execution_id, workflow_id, status, context, start_at, sequence, timeout_at)
         values (?, 'w', 'running', '{}', 1, 0, 50)`,
      )
      .run(id);
  }
  return () => database.close();
});

/** Does this work as a decision about the execution `e`. */
function decide<Result>(
  work: (record: ExecutionRecord | undefined, facts: Facts, changes: Changes) => Result,
  executionId = "e",
): Result {
  const decision: Decision<{ readonly executionId: string }, Result> = {
    decide: (_, record, facts, changes) => work(record, facts, changes),
  };
  return performDecision(database)(decision, { executionId });
}

const tableOf = (name: string) => database.prepare(`select * from ${name} order by 1, 2`).all();

/** Every field has a value that no new record has. */
const changed: ExecutionRecord = {
  ...{ executionId: "e", kind: "workflow", status: "suspended", sequence: 7, stepIndex: 2 },
  ...{ openSuspensions: 3, paused: true, resumes: 4, owner: "me", token: "mine", commits: 5, idle: true },
  ...{ recoveries: 6, usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 4 }, endAt: 9 },
  ...{ parked: "why", parkedUnder: "d1", definition: "d2", links: "{}" },
};

test("a record is read as it was written, and only that one", () => {
  const read = recordOf(database);
  const untouched = read("f");
  decide((record, _, changes) => {
    expect(record).toMatchObject({ executionId: "e", kind: "workflow", status: "running", sequence: 0 });
    changes.update(Object.assign(record ?? {}, changed));
  });
  expect(read("e")).toEqual(changed);
  expect(read("f")).toEqual(untouched);
  expect([read("g"), decide((record) => record, "g")]).toEqual([undefined, undefined]);
  database.exec("update executions set kind = 'turn' where execution_id = 'f'");
  expect(read("f")).toMatchObject({ kind: "turn", paused: false, idle: false, usage: null });
});

test.each<[keyof ExecutionRecord, ExecutionRecord[keyof ExecutionRecord]]>([
  ["status", "completed"],
  ["paused", true],
  ["idle", true],
  ["endAt", 5],
  ["parked", "why"],
  ["sequence", 5],
  ["definition", "d"],
  ["usage", { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 4 }],
])("a change of %s alone is written", (field, value) => {
  decide((record, _, changes) => {
    if (record === undefined) throw new Error("it is there");
    changes.update(Object.assign(record, { [field]: value }));
  });
  expect(recordOf(database)("e")).toMatchObject({ [field]: value });
});

test("suspensions below a step are found by its path, once each, of this execution alone", () => {
  const paths = ["a", "a/b", "a[0]/c", "a#call[0]", "ab", "b/a"];
  const found = decide((_, facts, changes) => {
    for (const path of [...paths, null])
      changes.open("e", { ...suspension(), suspensionId: `s-${path}`, path }, false);
    changes.open("f", { ...suspension(), suspensionId: "other", path: "a" }, false);
    return [facts.below("e", ["a"]), facts.below("e", ["a/b", "a", "b"]), facts.below("e", ["x"])];
  });
  expect(found.map((ids) => [...ids].sort())).toEqual([
    ["s-a", "s-a#call[0]", "s-a/b", "s-a[0]/c"],
    ["s-a", "s-a#call[0]", "s-a/b", "s-a[0]/c", "s-b/a"],
    [],
  ]);
});

test("an open suspension has its execution and path; a closed one is gone", () => {
  const facts = decide((_, known, changes) => {
    changes.open("e", { ...suspension(), suspensionId: "s1", path: "a" }, false);
    changes.open("e", { ...suspension(), suspensionId: "s2", path: null }, true);
    changes.open("f", { ...suspension(), suspensionId: "s3", path: "a" }, false);
    const all = [known.openSuspension("s1"), known.openSuspension("s2"), known.openSuspension("s4")];
    changes.close(["s1", "s2"]);
    return [...all, known.openSuspension("s1"), known.openSuspension("s2")];
  });
  expect(facts).toEqual([
    ...[{ executionId: "e", path: "a" }, { executionId: "e", path: null }, undefined, undefined, undefined],
  ]);
  decide((_, known, changes) => {
    changes.open("e", { ...suspension(), suspensionId: "s5" }, false);
    changes.closeAll("e");
    expect([known.openSuspension("s5"), known.openSuspension("s3")]).toEqual([
      ...[undefined, { executionId: "f", path: "a" }],
    ]);
  });
});

test("a suspension is kept with all its fields", () => {
  const all = {
    ...{ suspensionId: "s1", path: "a", stepIndex: 2, reason: "why", data: "1", suspendedAt: 3, deadline: 4 },
    ...{ onDeadline: "5", resumeSchema: "{}", to: "ada" },
  };
  decide((_, __, changes) => changes.open("e", all, true));
  expect(tableOf("suspensions")).toEqual([
    {
      ...{ suspension_id: "s1", execution_id: "e", path: "a", step_index: 2, reason: "why", data: "1" },
      ...{ suspended_at: 3, deadline: 4, on_deadline: "5", held: 1, resume_schema: "{}", awaits: null },
      recipient: "ada",
    },
  ]);
});

test("an owner is alive until its lease ends", () => {
  vi.spyOn(process.hrtime, "bigint").mockReturnValue(1_000_999_999n);
  database.exec("insert into owners (owner, expires_at) values ('past', 1000), ('alive', 1001)");
  const alive = decide((_, facts) => ["past", "alive", "unknown"].map((owner) => facts.isAlive(owner)));
  vi.restoreAllMocks();
  expect(alive).toEqual([false, true, false]);
});

test("timers are set, moved, cleared, held, and the earliest is due", () => {
  const due = decide((_, facts, changes) => {
    const none = facts.dueAt("e");
    changes.setTimer("e", { path: "a", dueAt: 8 });
    changes.setTimer("e", { path: "b", dueAt: 6 });
    changes.setTimer("f", { path: "a", dueAt: 1 });
    const first = facts.dueAt("e");
    changes.setTimer("e", { path: "b", dueAt: 9 });
    const moved = facts.dueAt("e");
    changes.clearTimer("e", "a");
    return [none, first, moved, facts.dueAt("e")];
  });
  expect(due).toEqual([undefined, 6, 8, 9]);
  const held = () =>
    [...tableOf("timers"), ...tableOf("suspensions")].map((row) => [row.execution_id, row.held]);
  decide((_, __, changes) => {
    changes.open("e", { ...suspension(), suspensionId: "s1" }, false);
    changes.hold("e", true);
  });
  expect(held()).toEqual([
    ["e", 1],
    ["f", 0],
    ["e", 1],
  ]);
  decide((_, __, changes) => changes.hold("e", false));
  expect(held().map(([, each]) => each)).toEqual([0, 0, 0]);
  decide((_, __, changes) => changes.clearTimers("e"));
  expect(tableOf("timers").map((row) => row.execution_id)).toEqual(["f"]);
});

test("a write is found by one of its keys: the last of them, among the last thousand events", () => {
  const recorded = (keys: readonly string[]) => decide((_, facts) => facts.recorded("e", keys));
  const append = (last: number, key: string, count = 1) =>
    decide((_, __, changes) => {
      changes.append(
        "e",
        last,
        Array.from({ length: count }, () => event("emitted")),
        key,
      );
      changes.update({ ...changed, sequence: last + count });
    });
  append(0, "k1");
  append(1, "k2");
  append(2, "k3");
  expect(recorded(["k1"])).toMatchObject({ sequence: 1, key: "k1", events: expect.any(String) });
  expect(recorded(["k1", "k2"])).toMatchObject({ sequence: 2, key: "k2" });
  expect(recorded(["x", "y", "z", "k3"])).toMatchObject({ sequence: 3, key: "k3" });
  expect(recorded(["x", "y", "k2"])).toMatchObject({ sequence: 2 });
  expect([recorded(["x"]), recorded([])]).toEqual([undefined, undefined]);
  append(3, "long", 997);
  expect(recorded(["k1"])).toMatchObject({ sequence: 1 });
  append(1000, "last");
  expect(recorded(["k1"])).toBeUndefined();
  expect(recorded(["k2"])).toMatchObject({ sequence: 2 });
});

test("the time of an event is that in the journal", () => {
  const times = decide((_, facts, changes) => {
    const at = (timestamp: number) => ({ ...event("emitted"), timestamp });
    changes.append("e", 0, [at(5), at(6)], "k");
    return [1, 2, 3].map((sequence) => facts.timeOf("e", sequence));
  });
  expect(times).toEqual([5, 6, undefined]);
});

test("an outcome and a timeout are written to their execution alone", () => {
  decide((_, __, changes) => {
    changes.end("e", { result: "1", resultAt: 2, error: "3" });
    changes.moveTimeout("e", 7);
  });
  const columns = tableOf("executions").map((row) => [row.result, row.result_at, row.error, row.timeout_at]);
  expect(columns).toEqual([
    ["1", 2, "3", 57],
    [null, null, null, 50],
  ]);
});
