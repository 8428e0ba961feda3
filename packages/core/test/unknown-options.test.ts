// Every function that takes options refuses those that it does not know, by name and with the one that was meant.
import { expect, test, vi } from "vitest";
import { z } from "zod";
import {
  Agent,
  andAgent,
  andAll,
  andBranch,
  andDoUntil,
  andDoWhile,
  andForEach,
  andRace,
  andSleep,
  andSleepUntil,
  andTap,
  andThen,
  andWhen,
  andWorkflow,
  createAndante,
  createLogger,
  createWorkflow,
  memoryStore,
  sqliteStore,
} from "../src/index.ts";
import { scriptedModel, TestClock } from "../src/test-kit/index.ts";

/** Calls a function as plain JavaScript does: with any argument. */
const call = (target: (options: never) => unknown, options: object) =>
  Reflect.apply(target, undefined, [options]);
const make = (target: new (options: never) => unknown, options: object) =>
  Reflect.construct(target, [options]);

const input = z.unknown();
const step = andThen({ id: "inner", execute: () => 1 });
const condition = () => true;
const workflow = createWorkflow({ id: "child", input }).andThen({ id: "a", execute: () => 1 });
const agent = new Agent({ id: "writer", model: scriptedModel([]) });
const store = memoryStore();

test.each<[string, () => unknown]>([
  ['createWorkflow: unknown option "ID"; did you mean "id"?', () => call(createWorkflow, { ID: "w", input })],
  [
    'Workflow "w": unknown option "inputSchema"; did you mean "input"?',
    () => call(createWorkflow, { id: "w", inputSchema: input }),
  ],
  [
    'Workflow "w", hooks: unknown option "onFinish"; the options are onStart, onStepEnd, onSuspend, onEnd',
    () => call(createWorkflow, { id: "w", input, hooks: { onFinish: () => 1 } }),
  ],
  ['andThen: unknown option "Id"; did you mean "id"?', () => call(andThen, { Id: "s", execute: () => 1 })],
  [
    'andThen "s": unknown option "excute"; did you mean "execute"?',
    () => call(andThen, { id: "s", excute: () => 1 }),
  ],
  [
    'andThen "s", retry: unknown option "attempt"; did you mean "attempts"?',
    () => call(andThen, { id: "s", execute: () => 1, retry: { attempt: 2 } }),
  ],
  [
    'andTap "s": unknown option "outputSchema"; the options are id, name,',
    () => call(andTap, { id: "s", execute: () => 1, outputSchema: input }),
  ],
  [
    'andWhen "s": unknown option "steps"; did you mean "step"?',
    () => call(andWhen, { id: "s", condition, steps: step }),
  ],
  ['andAll "s": unknown option "step"; did you mean "steps"?', () => call(andAll, { id: "s", step: [step] })],
  [
    'andRace "s": unknown option "concurency"; the options are id, name,',
    () => call(andRace, { id: "s", steps: [step], concurency: 1 }),
  ],
  [
    'andAgent "s": unknown option "promt"; did you mean "prompt"?',
    () => call(andAgent, { id: "s", agent, promt: "hello" }),
  ],
  [
    'andWorkflow "s": unknown option "worfklow"; did you mean "workflow"?',
    () => call(andWorkflow, { id: "s", worfklow: workflow }),
  ],
  [
    'andForEach "s": unknown option "concurency"; did you mean "concurrency"?',
    () => call(andForEach, { id: "s", step, concurency: 2 }),
  ],
  [
    'andDoWhile "s": unknown option "conditon"; did you mean "condition"?',
    () => call(andDoWhile, { id: "s", step, conditon: condition }),
  ],
  [
    'andDoUntil "s": unknown option "until"; the options are id, name,',
    () => call(andDoUntil, { id: "s", step, until: condition }),
  ],
  [
    'andBranch "s": unknown option "branchs"; did you mean "branches"?',
    () => call(andBranch, { id: "s", branchs: [{ condition, step }] }),
  ],
  [
    'andBranch "s", branches[0]: unknown option "steps"; did you mean "step"?',
    () => call(andBranch, { id: "s", branches: [{ condition, steps: step }] }),
  ],
  [
    'andSleep "s": unknown option "durations"; did you mean "duration"?',
    () => call(andSleep, { id: "s", durations: 5 }),
  ],
  [
    'andSleepUntil "s": unknown option "dates"; did you mean "date"?',
    () => call(andSleepUntil, { id: "s", dates: 5 }),
  ],
  [
    'Agent "a": unknown option "instruction"; did you mean "instructions"?',
    () => make(Agent, { id: "a", model: scriptedModel([]), instruction: "Be brief" }),
  ],
  [
    'Agent "a", memory: unknown option "windw"; did you mean "window"?',
    () => make(Agent, { id: "a", model: scriptedModel([]), memory: { windw: 5 } }),
  ],
  [
    'Agent "a", hooks: unknown option "onEnds"; did you mean "onEnd"?',
    () => make(Agent, { id: "a", model: scriptedModel([]), hooks: { onEnds: () => 1 } }),
  ],
  [
    'createAndante: unknown option "workflow"; did you mean "workflows"?',
    () => call(createAndante, { store, workflow: {} }),
  ],
  [
    'limits: unknown option "runing"; did you mean "running"?',
    () => call(createAndante, { store, limits: { runing: 1 } }),
  ],
  [
    'limits.journal: unknown option "event"; did you mean "events"?',
    () => call(createAndante, { store, limits: { journal: { event: 1 } } }),
  ],
  [
    'logs: unknown option "levels"; did you mean "level"?',
    () => call(createAndante, { store, logs: { levels: 1 } }),
  ],
  [
    'tracing: unknown option "samples"; did you mean "sample"?',
    () => call(createAndante, { store, tracing: { samples: 1 } }),
  ],
  [
    'retention: unknown option "maxage"; did you mean "maxAge"?',
    () => call(createAndante, { store, retention: { maxage: "1d" } }),
  ],
  [
    'sqliteStore: unknown option "file"; the options are path, maxBytes',
    () => call(sqliteStore, { file: "a.db" }),
  ],
  ['createLogger: unknown option "lvel"; did you mean "level"?', () => call(createLogger, { lvel: "info" })],
  [
    'TestClock: unknown option "skipSleep"; did you mean "skipSleeps"?',
    () => make(TestClock, { skipSleep: false }),
  ],
])("%s", (message, attempt) => {
  expect(attempt).toThrow(message);
});

test("the error about retry on a container without functions names the place where it belongs", () => {
  expect(() => call(andAll, { id: "s", steps: [step], retry: { attempts: 2 } })).toThrow(
    "retry and timeout belong to the steps inside",
  );
});

test.each([
  ["limits", [], "an object"],
  ["limits", null, "an object"],
  ["limits", 5, "an object"],
  ["logs", null, "an object"],
  ["logs", false, "an object"],
  ["retention", "30d", "an object"],
  ["retention", null, "an object"],
  ["tracing", true, "an object, or false for no traces"],
  ["tracing", null, "an object, or false for no traces"],
  ["tracing", [], "an object, or false for no traces"],
])("%s: %j is refused, and the error names the expected type", (option, given, expected) => {
  expect(() => call(createAndante, { store, [option]: given })).toThrow(
    `Option ${option}: expected ${expected}`,
  );
});

test.each([
  { limits: { running: 0 } },
  { limits: { agentReplies: -1 } },
  { limits: { userShare: 2 } },
  { limits: { input: "4 MB" } },
  { limits: { journal: { events: 0.5 } } },
  { retention: { maxAge: "soon" } },
  { retention: { maxCount: -1 } },
  { retention: { conversations: "soon" } },
  { logs: { level: "loud" } },
  { logs: { maxAge: "soon" } },
  { tracing: { sample: 2 } },
  { tracing: { maxAge: "soon" } },
  { rollups: { maxAge: "soon" } },
  { workflows: { none: {} } },
  { agents: { none: {} } },
])("%j is refused before the store is opened", (options) => {
  const unopened = memoryStore();
  const open = vi.spyOn(unopened, "open");
  expect(() => call(createAndante, { store: unopened, ...options })).toThrow();
  expect(open).not.toHaveBeenCalled();
});

test("limits.journal: null is refused", () => {
  expect(() => call(createAndante, { store, limits: { journal: null } })).toThrow(
    "Option limits.journal: expected an object",
  );
});

test.each<[string, () => unknown]>([
  ["Option store: expected a store", () => call(createAndante, {})],
  ["Option store: expected a store", () => call(createAndante, { store: "andante.db" })],
  ["Option store: expected a store", () => Reflect.apply(createAndante, undefined, [])],
  ["Agent: needs an options object", () => Reflect.construct(Agent, [])],
])("%s: the error names the missing value", (message, define) => {
  expect(define).toThrow(message);
});
