// Each decision alone: the facts that it requests, the changes that it makes, and the record that it leaves.
import { expect, test } from "vitest";
import { commitOf, event, suspension } from "../../store-cases/store-cases.ts";
import type { FactChange } from "../fact-store.ts";
import { rowText } from "../sql/journal-row.ts";
import type { Cancel, Commit, Pause, Resume } from "../store.ts";
import {
  type Changes,
  type Decision,
  decisions,
  type ExecutionRecord,
  type FactRequests,
  type Facts,
  isAbandoned,
  isPlain,
  newRecord,
  takeOver,
} from "./index.ts";

/** The facts of a store. */
interface World {
  readonly open?: Readonly<Record<string, { executionId: string; path: string | null }>>;
  readonly below?: readonly string[];
  readonly alive?: readonly string[];
  readonly dueAt?: number;
  readonly timeOf?: Readonly<Record<number, number>>;
  readonly recorded?: { readonly sequence: number; readonly events: string; readonly key: string };
}

const recordOf = (fields: Partial<ExecutionRecord> = {}): ExecutionRecord => ({
  ...newRecord,
  ...{ executionId: "e", kind: "workflow", sequence: 5, stepIndex: 1, resumes: 0, usage: null },
  ...{ owner: "here", token: "a-token-of-the-claim", commits: 2, definition: "d", links: null },
  ...fields,
});

/** Decides by facts that were requested before, as a store that reads them in advance has them. */
function decide<Argument extends { readonly executionId: string }, Result>(
  { request, decide: made }: Decision<Argument, Result>,
  argument: Argument,
  given: ExecutionRecord | undefined,
  world: World = {},
) {
  const requests: string[] = [];
  const note = (name: string, ...values: unknown[]) => requests.push(JSON.stringify([name, ...values]));
  const requesting: FactRequests = {
    openSuspensions: (ids) => void ids.map((id) => note("open", id)),
    below: (id, paths) => void note("below", id, paths),
    isAlive: (owner) => void note("alive", owner),
    dueAt: (id) => void note("due", id),
    timeOf: (id, sequence) => void note("time", id, sequence),
    recorded: (id, keys) => void note("recorded", id, keys),
  };
  request?.(argument, given && { ...given }, requesting);
  const check = (...fact: unknown[]) => expect(requests).toContain(JSON.stringify(fact));
  const facts: Facts = {
    openSuspension: (id) => {
      check("open", id);
      return world.open?.[id];
    },
    below: (id, paths) => {
      check("below", id, paths);
      return world.below ?? [];
    },
    isAlive: (owner) => {
      check("alive", owner);
      return world.alive?.includes(owner) === true;
    },
    dueAt: (id) => {
      check("due", id);
      return world.dueAt;
    },
    timeOf: (id, sequence) => {
      check("time", id, sequence);
      return world.timeOf?.[sequence];
    },
    recorded: (id, keys) => {
      check("recorded", id, keys);
      return world.recorded;
    },
  };
  const changed: [string, ...unknown[]][] = [];
  const change =
    (name: string) =>
    (...values: unknown[]) =>
      void changed.push([name, ...values]);
  const changes: Changes = {
    update: (record) => void changed.push(["update", { ...record }]),
    end: change("end"),
    append: change("append"),
    charge: change("charge"),
    deliver: change("deliver"),
    open: change("open"),
    remember: change("remember"),
    keepWork: change("send"),
    close: change("close"),
    closeAll: change("closeAll"),
    setTimer: change("setTimer"),
    clearTimer: change("clearTimer"),
    clearTimers: change("clearTimers"),
    hold: change("hold"),
    moveTimeout: change("moveTimeout"),
    spend: change("spend"),
  };
  const record = given && { ...given };
  const result = made(argument, record, facts, changes);
  return { result, changed, requests: requests.map((each) => JSON.parse(each)) };
}

const token = "a-token-of-the-claim";
const commit = (fields: Partial<Commit> = {}): Commit => ({
  ...commitOf("e"),
  ...{ token, number: 3, after: 5, events: [event("step-complete")], stepIndex: 2, progress: true },
  ...fields,
});
const keys = (number: number) =>
  ["ok", "ok.idle", "paused", "paused.idle"].map((result) => `of-the-claim.${number}.${result}`);
const refused = (kind: string) => ({ kind, sequence: 0, idle: false });

test("a commit to an execution that does not exist requests nothing and is fenced", () => {
  expect(decide(decisions.commit, commit(), undefined)).toEqual({
    ...{ result: refused("fenced"), changed: [], requests: [] },
  });
});

test("the next commit of a claim needs no fact, and moves the record on", () => {
  const record = recordOf({ recoveries: 2 });
  const following = [event("step-start")];
  const timer = { path: "nap", dueAt: 9 };
  const argument = commit({ following, timers: [timer], clear: ["old"] });
  expect(decide(decisions.commit, argument, record)).toEqual({
    result: { kind: "ok", sequence: 7, idle: false },
    requests: [],
    changed: [
      ["clearTimer", "e", "old"],
      ["setTimer", "e", timer],
      ["append", "e", 5, [...argument.events, ...following], "of-the-claim.3.ok"],
      ["update", { ...record, commits: 3, recoveries: 0, sequence: 7, stepIndex: 2 }],
    ],
  });
});

test("a commit without progress keeps the recoveries; usage is added", () => {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
  const record = recordOf({ recoveries: 2, usage });
  const { changed } = decide(decisions.commit, commit({ progress: false, usage }), record);
  expect(changed.at(-1)).toMatchObject([
    "update",
    { recoveries: 2, usage: { inputTokens: 2, outputTokens: 4, totalTokens: 6, calls: 2 } },
  ]);
});

test("changes of facts are kept with a commit that is recorded, also under a pause", () => {
  const fact: FactChange = {
    ...{ agentId: "a", scope: "user", subject: "ada", changeId: "c" },
    ...{ patch: "{}", by: null, at: 1 },
  };
  const facts = [fact, { ...fact, changeId: "d" }];
  for (const paused of [false, true]) {
    const { changed } = decide(decisions.commit, commit({ facts }), recordOf({ paused }));
    expect(changed.filter(([name]) => name === "remember")).toEqual(facts.map((each) => ["remember", each]));
  }
  const fenced = decide(decisions.commit, commit({ facts, token: "another" }), recordOf({}));
  expect(fenced.changed).toEqual([]);
});

test("a commit opens suspensions, except at steps that it ends, and closes those below them", () => {
  const at = (path: string | null) => suspension({ suspensionId: `at ${path}`, path });
  const open = [at("gate"), at("done"), at("done/inner"), at("ended#call"), at(null)];
  const argument = commit({ open, closeEnded: ["ended"], closeBelow: ["done"] });
  const record = recordOf({ openSuspensions: 3 });
  const { result, requests, changed } = decide(decisions.commit, argument, record, { below: ["s1", "s2"] });
  expect(requests).toEqual([["below", "e", ["ended", "done"]]]);
  expect(changed).toEqual([
    ["close", ["s1", "s2"]],
    ["open", "e", open[0], false],
    ["open", "e", open[4], false],
    ["append", "e", 5, argument.events, "of-the-claim.3.ok"],
    [
      "update",
      {
        ...{ ...record, commits: 3, sequence: 6, stepIndex: 2, openSuspensions: 3 },
        status: "suspended",
      },
    ],
  ]);
  expect(result).toEqual({ kind: "ok", sequence: 6, idle: false });
});

test("a commit to a paused execution records only outcomes, and closes only what they end", () => {
  const gate = suspension({ path: "gate" });
  const argument = commit({
    ...{ open: [gate], closeEnded: ["ended"], closeBelow: ["done"], following: [event("step-start")] },
    timers: [{ path: "nap", dueAt: 9 }],
  });
  const record = recordOf({ paused: true, openSuspensions: 1, recoveries: 2 });
  const { result, requests, changed } = decide(decisions.commit, argument, record);
  expect(requests).toEqual([["below", "e", ["ended"]]]);
  expect(changed).toEqual([
    ["open", "e", gate, true],
    ["append", "e", 5, argument.events, "of-the-claim.3.paused"],
    [
      "update",
      { ...{ ...record, commits: 3, sequence: 6, openSuspensions: 2, recoveries: 0 }, status: "suspended" },
    ],
  ]);
  expect(result).toEqual({ kind: "paused", sequence: 6, idle: false });
});

test.each([
  [1, true],
  [2, false],
])("going idle with %i known resumes of one: %s", (resumes, idle) => {
  const suspended = event("workflow-suspended");
  const argument = commit({ events: [], idle: { resumes, event: suspended } });
  const record = recordOf({ resumes: resumes === 1 ? 1 : 3 });
  const { result, changed } = decide(decisions.commit, argument, record);
  expect(result).toEqual({ kind: "ok", sequence: idle ? 6 : 5, idle });
  const left = { ...record, commits: 3, stepIndex: 2 };
  expect(changed).toEqual(
    idle
      ? [
          ["append", "e", 5, [suspended], "of-the-claim.3.ok.idle"],
          ["update", { ...left, sequence: 6, idle: true, owner: null, token: null }],
        ]
      : [["update", left]],
  );
});

test("an end closes everything and releases the claim; a long result is that of the last event", () => {
  const following = [{ ...event("workflow-complete"), timestamp: 77 }];
  const end = { status: "completed", result: { sameAs: -1 }, error: null } as const;
  const record = recordOf({ openSuspensions: 1, recoveries: 3 });
  const argument = commit({ following, end, clear: ["nap"] });
  const { result, changed } = decide(decisions.commit, argument, record);
  expect(result).toEqual({ kind: "ok", sequence: 7, idle: false });
  expect(changed).toEqual([
    ["closeAll", "e"],
    ["clearTimers", "e"],
    ["append", "e", 5, [...argument.events, ...following], "of-the-claim.3.ok"],
    ["end", "e", { result: null, resultAt: 7, error: null }],
    [
      "update",
      {
        ...{ ...record, commits: 3, sequence: 7, stepIndex: 2, openSuspensions: 0, recoveries: 0 },
        ...{ status: "completed", endAt: 77, owner: null, token: null },
      },
    ],
  ]);
  const plain = commit({ following, end: { ...end, result: "1" } });
  expect(decide(decisions.commit, plain, recordOf()).changed.map(([name]) => name)).toEqual([
    ...["append", "end", "update"],
  ]);
  const timed = commit({ following, end: { ...end, result: "1" }, timers: [{ path: "nap", dueAt: 9 }] });
  expect(decide(decisions.commit, timed, recordOf()).changed[0]).toEqual(["clearTimers", "e"]);
});

test.each<[string, Partial<Commit>, Partial<ExecutionRecord>, World, string | undefined]>([
  ["leaves out a commit", { number: 4 }, {}, {}, "lost"],
  ["knows of a later event", { after: 6 }, {}, {}, "lost"],
  ["knows of more resumes", { idle: { resumes: 1, event: null } }, {}, {}, "lost"],
  ["knows of another event", { others: { sequence: 4, at: 9 } }, {}, { timeOf: { 4: 8 } }, "lost"],
  ["knows of the same event", { others: { sequence: 4, at: 9 } }, {}, { timeOf: { 4: 9 } }, undefined],
  ["is late", {}, { endAt: 9 }, {}, "ended"],
  ["is of an earlier claim", {}, { token: "another" }, {}, "fenced"],
])("a commit that %s", (_, fields, record, world, kind) => {
  const { result, changed } = decide(decisions.commit, commit(fields), recordOf(record), world);
  if (kind === undefined) expect(result).toMatchObject({ kind: "ok" });
  else expect([result, changed]).toEqual([refused(kind), []]);
});

test.each([
  [0, { kind: "ok", idle: false }],
  [1, { kind: "ok", idle: true }],
  [2, { kind: "paused", idle: false }],
  [3, { kind: "paused", idle: true }],
])("a repeated commit returns its first result (%i)", (index, result) => {
  const recorded = { sequence: 4, events: "[]", key: keys(2)[index] ?? "" };
  for (const record of [recordOf(), recordOf({ token: null })]) {
    expect(decide(decisions.commit, commit({ number: 2 }), record, { recorded })).toEqual({
      ...{ result: { ...result, sequence: 4 }, changed: [], requests: [["recorded", "e", keys(2)]] },
    });
  }
});

test("a repeated commit without events is known by its number", () => {
  const bare = commit({ number: 2, events: [] });
  const repeat = (argument: Commit, fields: Partial<ExecutionRecord> = {}) =>
    decide(decisions.commit, argument, recordOf(fields)).result;
  expect(repeat(bare)).toEqual({ kind: "ok", sequence: 5, idle: false });
  expect(repeat(bare, { paused: true })).toEqual({ kind: "paused", sequence: 5, idle: false });
  expect(repeat({ ...bare, following: [event("step-start")] })).toEqual({
    ...{ kind: "paused", sequence: 5, idle: false },
  });
});

const resume = (fields: Partial<Resume> = {}): Resume => ({
  ...{ executionId: "e", suspensionIds: ["s"], rewind: null, byDeadline: false },
  ...{ events: [{ ...event("workflow-resumed"), timestamp: 50 }], claim: { owner: "me", token: "mine" } },
  ...fields,
});
const gateOpen = { open: { s: { executionId: "e", path: "gate" } }, timeOf: { 5: 60 } };
const waiting = (fields: Partial<ExecutionRecord> = {}) =>
  recordOf({
    ...{ status: "suspended", openSuspensions: 1, owner: null, token: null, idle: true },
    ...fields,
  });

test("a resume closes the suspension and takes the claim; no event is earlier than the last", () => {
  const record = waiting({ parked: "why", commits: 4 });
  const written = [{ ...resume().events[0], timestamp: 60 }];
  expect(decide(decisions.resume, resume(), record, gateOpen)).toEqual({
    result: { kind: "claimed", events: [{ ...written[0], sequence: 6 }] },
    requests: [
      ["open", "s"],
      ["time", "e", 5],
      ["recorded", "e", ["mine", "mine.owned"]],
    ],
    changed: [
      ["close", ["s"]],
      ["append", "e", 5, written, "mine"],
      [
        "update",
        {
          ...{ ...record, sequence: 6, openSuspensions: 0, status: "running", resumes: 1, parked: null },
          ...{ owner: "me", token: "mine", commits: 0, idle: false },
        },
      ],
    ],
  });
});

test.each<[string, Partial<ExecutionRecord>, World, "owned" | "claimed"]>([
  ["a live owner", { owner: "there", token: "t" }, { alive: ["there"] }, "owned"],
  ["an owner whose lease has ended", { owner: "there", token: "t" }, {}, "claimed"],
  ["the caller itself", { owner: "me", token: "t" }, {}, "owned"],
])("a resume of an execution with %s", (_, fields, world, kind) => {
  const record = waiting({ ...fields, idle: false, openSuspensions: 2, parked: "why" });
  const { result, changed, requests } = decide(decisions.resume, resume(), record, { ...gateOpen, ...world });
  expect(result).toMatchObject({ kind });
  expect(requests).toContainEqual(["alive", record.owner]);
  const claim =
    kind === "owned" ? { owner: record.owner, token: "t", parked: "why" } : { owner: "me", parked: null };
  expect(changed.at(-1)).toMatchObject(["update", { ...claim, status: "suspended", openSuspensions: 1 }]);
  expect(changed[1]).toMatchObject(["append", "e", 5, {}, kind === "owned" ? "mine.owned" : "mine"]);
});

test("a resume that lifts a pause lets the times run, and moves the timeout", () => {
  const record = waiting({ paused: true });
  const world = { ...gateOpen, open: { s: { executionId: "e", path: null } } };
  const { changed } = decide(decisions.resume, resume({ pausedFor: 10 }), record, world);
  expect(changed).toMatchObject([
    ["close", ["s"]],
    ["hold", "e", false],
    ["append", "e", 5, [{ timestamp: 60 }], "mine"],
    ["moveTimeout", "e", 10],
    ["update", { paused: false }],
  ]);
});

test("a rewind closes everything, takes the claim from a live owner and goes back", () => {
  const record = waiting({ paused: true, openSuspensions: 3, owner: "there", token: "t" });
  const { result, changed } = decide(decisions.resume, resume({ rewind: { stepIndex: 0 } }), record, {
    ...{ ...gateOpen, alive: ["there"] },
  });
  expect(result).toMatchObject({ kind: "claimed" });
  expect(changed).toMatchObject([
    ["closeAll", "e"],
    ["clearTimers", "e"],
    ["append", "e", 5, {}, "mine"],
    ["update", { openSuspensions: 0, stepIndex: 0, paused: false, status: "running", owner: "me" }],
  ]);
});

test.each<[string, Partial<Resume>, ExecutionRecord | undefined, World]>([
  ["of an execution that is gone", {}, undefined, {}],
  ["by a deadline during a pause", { byDeadline: true }, waiting({ paused: true }), gateOpen],
  ["of an execution that runs", {}, recordOf(), gateOpen],
  ["of a suspension that is closed", {}, waiting(), { timeOf: { 5: 60 } }],
  ["of another execution's suspension", {}, waiting(), { open: { s: { executionId: "f", path: "gate" } } }],
  ["after another event", { last: { sequence: 4, at: 60 } }, waiting(), gateOpen],
  ["after an event of another time", { last: { sequence: 5, at: 61 } }, waiting(), gateOpen],
])("a resume %s is refused", (_, fields, record, world) => {
  const { result, changed } = decide(decisions.resume, resume(fields), record, world);
  expect([result, changed]).toEqual([{ kind: "refused" }, []]);
});

test("a resume that expects the last event finds it", () => {
  const expects = resume({ last: { sequence: 5, at: 60 } });
  expect(decide(decisions.resume, expects, waiting(), gateOpen).result).toMatchObject({ kind: "claimed" });
});

const pauseOf: Pause = {
  executionId: "e",
  suspension: {
    suspensionId: "p",
    path: null,
    reason: "why",
    data: null,
    suspendedAt: 50,
    deadline: null,
    onDeadline: null,
  },
  event: { ...event("workflow-suspended"), timestamp: 50 },
};

test("a pause opens its suspension at the step that was reached and holds all times", () => {
  const record = recordOf();
  const suspended = { ...pauseOf.suspension, stepIndex: 1 };
  const written = { ...pauseOf.event, timestamp: 60, stepIndex: 1 };
  expect(decide(decisions.pause, pauseOf, record, { timeOf: { 5: 60 } })).toEqual({
    result: { kind: "paused", event: { ...written, sequence: 6 }, suspension: suspended },
    requests: [
      ["recorded", "e", ["p", "p.owned"]],
      ["time", "e", 5],
    ],
    changed: [
      ["open", "e", suspended, true],
      ["hold", "e", true],
      ["append", "e", 5, [written], "p"],
      ["update", { ...record, sequence: 6, status: "suspended", paused: true, openSuspensions: 1 }],
    ],
  });
  expect(decide(decisions.pause, pauseOf, undefined)).toEqual({
    ...{ result: { kind: "refused", status: "error" }, requests: [], changed: [] },
  });
  expect(decide(decisions.pause, pauseOf, waiting())).toMatchObject({
    ...{ result: { kind: "refused", status: "suspended" }, changed: [] },
  });
});

const cancelOf: Cancel = {
  ...{ executionId: "e", key: "c", status: "cancelled", error: null, due: null },
  event: { ...event("workflow-cancelled"), timestamp: 50 },
};

test("a cancel ends the execution with everything that waits in it", () => {
  const record = recordOf({ paused: true, parked: "why", openSuspensions: 2 });
  const written = { ...cancelOf.event, timestamp: 60 };
  expect(decide(decisions.cancel, cancelOf, record, { timeOf: { 5: 60 } })).toEqual({
    result: { kind: "cancelled", event: { ...written, sequence: 6 } },
    requests: [["time", "e", 5]],
    changed: [
      ["append", "e", 5, [written], "c"],
      ["closeAll", "e"],
      ["clearTimers", "e"],
      ["end", "e", { result: null, resultAt: null, error: null }],
      [
        "update",
        {
          ...{ ...record, sequence: 6, status: "cancelled", endAt: 60, openSuspensions: 0, paused: false },
          ...{ parked: null, owner: null, token: null },
        },
      ],
    ],
  });
});

test.each<[string, Partial<Cancel>, ExecutionRecord | undefined, unknown[], object]>([
  ["that is gone", {}, undefined, [], { kind: "refused", status: "error" }],
  [
    ...(["that has ended", {}, recordOf({ endAt: 9, status: "completed" })] as const),
    [["recorded", "e", ["c", "c.owned"]]],
    { kind: "refused", status: "completed" },
  ],
  [
    ...([
      "that is paused, by a timeout",
      { due: { suspensionId: null } },
      recordOf({ paused: true }),
    ] as const),
    [["time", "e", 5]],
    { kind: "refused", status: "running" },
  ],
  [
    ...(["whose suspension is closed, by its deadline", { due: { suspensionId: "s" } }, waiting()] as const),
    [
      ["time", "e", 5],
      ["open", "s"],
    ],
    { kind: "refused", status: "suspended" },
  ],
])("a cancel of an execution %s is refused", (_, fields, record, requests, result) => {
  expect(decide(decisions.cancel, { ...cancelOf, ...fields }, record)).toEqual({
    result,
    requests,
    changed: [],
  });
});

test("a cancel by a timeout or by a deadline that is open takes effect", () => {
  const due = { suspensionId: "s" };
  expect(decide(decisions.cancel, { ...cancelOf, due }, waiting(), gateOpen).result).toMatchObject({
    kind: "cancelled",
  });
  const timeout = { ...cancelOf, due: { suspensionId: null } };
  expect(decide(decisions.cancel, timeout, recordOf()).result).toMatchObject({ kind: "cancelled" });
});

test("a due timer claims an idle execution, also repeatedly", () => {
  const wake = { executionId: "e", now: 10, claim: { owner: "me", token: "mine" } };
  const idle = recordOf({ idle: true, owner: null, token: null, commits: 4 });
  const claimed = { ...idle, owner: "me", token: "mine", commits: 0, idle: false };
  expect(decide(decisions.wake, wake, idle, { dueAt: 10 })).toEqual({
    ...{ result: true, requests: [["due", "e"]], changed: [["update", claimed]] },
  });
  expect(decide(decisions.wake, wake, claimed)).toMatchObject({ result: true, changed: [] });
  expect(decide(decisions.wake, wake, undefined)).toEqual({ result: false, requests: [], changed: [] });
  const others: Partial<ExecutionRecord>[] = [{ idle: false }, { paused: true }, { endAt: 9 }];
  for (const fields of others)
    expect(decide(decisions.wake, wake, { ...idle, ...fields }, { dueAt: 10 })).toMatchObject({
      ...{ result: false, changed: [] },
    });
  const notDue: World[] = [{}, { dueAt: 11 }];
  for (const world of notDue)
    expect(decide(decisions.wake, wake, idle, world)).toMatchObject({ result: false, changed: [] });
});

test("a claim is released, parked or continued with another definition by its token alone", () => {
  const record = recordOf();
  const mine = { executionId: "e", token };
  const released = { ...record, owner: null, token: null };
  const park = { reason: "why", definition: "new" };
  expect(decide(decisions.release, mine, record).changed).toEqual([["update", released]]);
  expect(decide(decisions.park, { ...mine, ...park }, record).changed).toEqual([
    ["update", { ...released, parked: "why", parkedUnder: "new" }],
  ]);
  expect(decide(decisions.adopt, { ...mine, definition: "new" }, record).changed).toEqual([
    ["update", { ...record, definition: "new" }],
  ]);
  for (const other of [undefined, recordOf({ token: "another" })]) {
    expect(decide(decisions.release, mine, other).changed).toEqual([]);
    expect(decide(decisions.park, { ...mine, ...park }, other).changed).toEqual([]);
    expect(decide(decisions.adopt, { ...mine, definition: "new" }, other).changed).toEqual([]);
  }
  expect(decide(decisions.park, { ...mine, ...park }, recordOf({ endAt: 9 })).changed).toEqual([]);
});

test("abandoned is an execution with work and without a live owner", () => {
  const cases: [Partial<ExecutionRecord>, boolean, boolean][] = [
    [{}, false, true],
    [{}, true, false],
    [{ token: null }, true, true],
    [{ idle: true }, false, false],
    [{ endAt: 9 }, false, false],
    [{ parked: "why" }, false, false],
  ];
  for (const [fields, isAlive, expected] of cases)
    expect(isAbandoned(recordOf(fields), isAlive)).toBe(expected);
  const recoveries = (fields: Partial<ExecutionRecord>, hadHeartbeat: boolean) => {
    const record = recordOf({ recoveries: 1, ...fields });
    takeOver(record, { owner: "me", token: "mine" }, hadHeartbeat);
    expect(record).toMatchObject({ owner: "me", token: "mine", commits: 0, idle: false });
    return record.recoveries;
  };
  expect([recoveries({}, true), recoveries({}, false), recoveries({ token: null }, true)]).toEqual([2, 1, 1]);
});

test("plain is a commit without usage, events of others, and fields that quick statements do not know", () => {
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 };
  expect(isPlain(commit({ closeEnded: [] }))).toBe(true);
  expect(isPlain(commit({ usage }))).toBe(false);
  expect(isPlain(commit({ others: { sequence: 1, at: 1 } }))).toBe(false);
  expect(isPlain({ ...commit(), ...{ priority: 1 } })).toBe(false);
});

test("a resume, pause or cancel that is repeated returns its first events and changes nothing", () => {
  const kept = (type: string, key: string, stepIndex: number | null = 1) => {
    const first = { ...event(type), timestamp: 50, stepIndex };
    return { first: { ...first, sequence: 6 }, recorded: { sequence: 6, events: rowText(5, [first]), key } };
  };
  const later = { sequence: 7 };
  const resumed = kept("workflow-resumed", "mine");
  expect(decide(decisions.resume, resume(), recordOf(later), resumed)).toMatchObject({
    ...{ result: { kind: "claimed", events: [resumed.first] }, changed: [] },
  });
  const owned = kept("workflow-resumed", "mine.owned");
  expect(decide(decisions.resume, resume(), recordOf(later), owned)).toMatchObject({
    ...{ result: { kind: "owned", events: [owned.first] }, changed: [] },
  });
  const paused = kept("workflow-suspended", "p", 4);
  expect(decide(decisions.pause, pauseOf, recordOf(later), paused)).toMatchObject({
    result: { kind: "paused", event: paused.first, suspension: { ...pauseOf.suspension, stepIndex: 4 } },
    changed: [],
  });
  const bare = kept("workflow-suspended", "p", null);
  expect(decide(decisions.pause, pauseOf, waiting(later), bare)).toMatchObject({
    ...{ result: { kind: "paused", suspension: { stepIndex: 0 } }, changed: [] },
  });
  const cancelled = kept("workflow-cancelled", "c", null);
  const ended = recordOf({ ...later, endAt: 50, status: "cancelled" });
  expect(decide(decisions.cancel, cancelOf, ended, cancelled)).toMatchObject({
    ...{ result: { kind: "cancelled", event: cancelled.first }, changed: [] },
  });
});
