// Definitions: a mistake is an error at once, with its place.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { DefinitionError } from "../errors/index.ts";
import type { WorkflowOptions } from "./create-workflow.ts";
import { createWorkflow } from "./create-workflow.ts";
import { registerWorkflows } from "./register-workflows.ts";
import {
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
} from "./steps/free-steps.ts";
import type { Workflow } from "./workflow.ts";

const input = z.object({ topic: z.string() });
const start = () => createWorkflow({ id: "publish", input });
const step = (id: string) => andThen({ id, execute: () => 1 });
/** A definition that a host without a compiler could write. */
const wrong = <T>(value: unknown) => value as T;

describe("a workflow", () => {
  test("is immutable: each step makes a new one", () => {
    const empty = start();
    const one = empty.andThen({ id: "a", execute: () => 1 });
    const other = empty.andThen({ id: "b", execute: () => 2 });
    expect([empty, one, other].map(({ steps }) => steps.map(({ id }) => id))).toEqual([[], ["a"], ["b"]]);
  });

  test("takes its id as its name and no purpose by default, and so do its steps", () => {
    const { name, purpose, steps } = start().andThen({ id: "a", execute: () => 1 });
    expect([name, purpose, steps[0]?.name, steps[0]?.purpose]).toEqual(["publish", "", "a", ""]);
  });

  test.each([
    ["", "createWorkflow: the id must be a string that is not empty"],
    [undefined, "createWorkflow: the id must be a string that is not empty"],
    [5, "createWorkflow: the id must be a string that is not empty"],
    ["a/b", 'createWorkflow: the id "a/b" must not contain / [ ] or #'],
    ["a\u0000b", 'createWorkflow: the id "a\\u0000b" contains a control character'],
  ])("refuses the id %j", (id, message) => {
    expect(() => createWorkflow({ id: wrong<string>(id), input })).toThrow(
      new DefinitionError(split(message)),
    );
  });

  test.each([".", ".."])("refuses the id %s, which no URL reaches", (id) => {
    expect(() => createWorkflow({ id, input })).toThrow(
      `createWorkflow: the id "${id}" cannot be used in a URL`,
    );
  });

  test("refuses to be made of nothing", () => {
    expect(() => createWorkflow(wrong<WorkflowOptions<typeof input>>(undefined))).toThrow(DefinitionError);
  });

  test("needs an input schema", () => {
    expect(() => createWorkflow({ id: "a", input: wrong<typeof input>(undefined) })).toThrow(
      'Workflow "a": input needs a schema',
    );
  });

  test.each(["input", "result", "suspendSchema", "resumeSchema"])(
    "refuses a %s that is not a schema",
    (name) => {
      for (const schema of [{}, "text", null, { type: "object" }, { "~standard": { validate: () => 1 } }]) {
        const options = { id: "a", input, [name]: wrong<typeof input>(schema) };
        expect(() => createWorkflow(options)).toThrow(`Workflow "a", ${name}: not a Standard Schema`);
      }
    },
  );
});

function split(message: string): { where: string; problem: string } {
  const [where = "", ...problem] = message.split(": ");
  return { where, problem: problem.join(": ") };
}

describe("a step", () => {
  test.each(["/", "[", "]", "#", "a/b", "a[0]", "a#b"])("refuses the id %j, saying which kind", (id) => {
    expect(() => step(id)).toThrow(`andThen: the id "${id}" must not contain / [ ] or #`);
  });

  test("refuses an id of more than 200 characters, and so does a workflow", () => {
    const [long, tooLong] = ["é".repeat(200), "é".repeat(201)];
    const problem = `the id "${"é".repeat(20)}…" is longer than 200 characters`;
    expect(start().andThen({ id: long, execute: () => 1 }).steps[0]?.id).toBe(long);
    expect(() => step(tooLong)).toThrow(`andThen: ${problem}`);
    expect(createWorkflow({ id: long, input }).id).toBe(long);
    expect(() => createWorkflow({ id: tooLong, input })).toThrow(`createWorkflow: ${problem}`);
  });

  test("refuses, when its workflow is registered, a path of more than 1000 bytes", () => {
    // Four containers of 199 characters and a separator each leave 200 bytes for the last id.
    const nested = (last: string, depth = 4): Workflow =>
      depth === 0
        ? wrong<Workflow>(start().andThen({ id: last, execute: () => 1 }))
        : wrong<Workflow>(
            start().andWorkflow({ id: "c".repeat(199), workflow: wrong<never>(nested(last, depth - 1)) }),
          );
    const register = (workflow: Workflow) => registerWorkflows({ nested: workflow });
    expect(register(nested("d".repeat(200))).size).toBe(1);
    const refused = /Workflow registered as "nested": the path c+… of a step is longer than 1000 bytes/;
    expect(() => register(nested(`${"d".repeat(199)}é`))).toThrow(refused);
    const inside = andWorkflow({ id: "c".repeat(199), workflow: wrong<never>(nested("d".repeat(190), 3)) });
    const looped = start().andForEach({ id: "e", items: () => [1], step: wrong<never>(inside) });
    expect(() => register(wrong<Workflow>(looped))).toThrow("is longer than 1000 bytes");
  });

  test("refuses an empty id, saying which kind", () => {
    expect(() => andTap({ id: "", execute: () => 1 })).toThrow("andTap: the id must be a string");
  });

  test("may have the id of one in another chain that continues the same beginning", () => {
    const begun = start().andThen({ id: "a", execute: () => 1 });
    const first = begun.andThen({ id: "b", execute: () => 1 }).andThen({ id: "c", execute: () => 1 });
    const second = begun.andThen({ id: "c", execute: () => 1 }).andThen({ id: "b", execute: () => 1 });
    expect([first, second].map(({ steps }) => steps.map(({ id }) => id).join(""))).toEqual(["abc", "acb"]);
    for (const chain of [begun, first, second])
      expect(() => chain.andThen({ id: "a", execute: () => 1 })).toThrow("duplicate");
    expect(() => second.andThen({ id: "c", execute: () => 1 })).toThrow("duplicate");
  });

  test("refuses a duplicate id, saying where", () => {
    const twice = () =>
      start()
        .andThen({ id: "a", execute: () => 1 })
        .andTap({ id: "a", execute: () => 1 });
    expect(twice).toThrow('Workflow "publish": duplicate step id "a"');
    expect(() => andAll({ id: "both", steps: [step("a"), step("a")] })).toThrow(
      'andAll "both": duplicate step id "a"',
    );
    const acrossBranches = () =>
      andRace({ id: "first", steps: [step("a"), wrong<ReturnType<typeof step>>(chainOf("b", "a"))] });
    expect(acrossBranches).toThrow('andRace "first": duplicate step id "a"');
    const insideBranch = () => andWhen({ id: "maybe", condition: () => true, step: chainOf("a", "a") });
    expect(insideBranch).toThrow(/andWhen "maybe".*duplicate step id "a"/);
  });

  test("may have the id of a step elsewhere", () => {
    const nested = start()
      .andThen({ id: "a", execute: () => 1 })
      .andAll({ id: "b", steps: [andAll({ id: "a", steps: [step("a")] })] });
    expect(nested.steps).toHaveLength(2);
  });

  test.each(["inputSchema", "outputSchema", "suspendSchema", "resumeSchema"])(
    "refuses a %s that is not a schema",
    (name) => {
      const options = { id: "a", execute: () => 1, [name]: wrong<typeof input>({}) };
      expect(() => andThen(options)).toThrow(`andThen "a", ${name}: not a Standard Schema`);
    },
  );

  test("refuses an option that is not a function", () => {
    const none = wrong<() => boolean>("no function");
    expect(() => andThen({ id: "a", execute: none })).toThrow('andThen "a": execute must be a function');
    expect(() => andTap({ id: "a", execute: none })).toThrow('andTap "a": execute must be a function');
    expect(() => andWhen({ id: "a", condition: none, step: step("b") })).toThrow(
      'andWhen "a": condition must be a function',
    );
  });

  test("refuses a branch that is neither a step nor a chain", () => {
    const branch = (value: unknown) => () =>
      andAll({ id: "a", steps: [wrong<ReturnType<typeof step>>(value)] });
    const message = 'andAll "a": a branch must be a step such as andThen({ … }) or a function of a chain';
    for (const value of [5, null, undefined, "step", {}]) expect(branch(value)).toThrow(message);
    expect(branch(() => 5)).toThrow('andAll "a": a branch function must return the chain it was given');
    expect(branch((chain: unknown) => chain)).toThrow('andAll "a": a branch has no steps');
  });

  test("refuses containers without branches", () => {
    expect(() => andAll({ id: "a", steps: [] })).toThrow(
      'andAll "a": steps must be an array with at least one',
    );
    expect(() => andRace({ id: "a", steps: wrong<[]>(undefined) })).toThrow(
      'andRace "a": steps must be an array',
    );
  });

  test("refuses an option that is not an agent, a prompt or a workflow", () => {
    const agent = { generate: async () => ({ text: "" }) };
    expect(() => andAgent({ id: "a", agent: wrong<typeof agent>({}), prompt: "" })).toThrow(
      'andAgent "a": agent must be an agent with a generate function',
    );
    expect(() => andAgent({ id: "a", agent, prompt: wrong<string>(5) })).toThrow(
      'andAgent "a": prompt must be a string, messages or a function',
    );
    expect(() => andWorkflow({ id: "a", workflow: wrong<ReturnType<typeof start>>({}) })).toThrow(
      'andWorkflow "a": workflow must be a workflow',
    );
  });
});

function chainOf(first: string, second: string) {
  return (chain: Workflow<{ parsed: { topic: string }; output: { topic: string } }>) =>
    chain.andThen({ id: first, execute: () => 1 }).andThen({ id: second, execute: () => 1 });
}

describe("retry, timeouts, loops, branches and sleeps", () => {
  const execute = () => 1;
  const looping = { id: "a", step: step("b"), condition: () => true };

  test.each([
    [() => andThen({ id: "a", execute, retry: wrong({}) }), "attempts must be a whole number from 1 to 1000"],
    [() => andThen({ id: "a", execute, retry: { attempts: 0 } }), "attempts must be"],
    [() => andThen({ id: "a", execute, retry: { attempts: 2, backoff: wrong("wild") } }), "backoff must be"],
    [() => andThen({ id: "a", execute, retry: { attempts: 2, jitter: wrong(1) } }), "jitter must be"],
    [
      () => andThen({ id: "a", execute, retry: { attempts: 2, delay: wrong("soon") } }),
      "retry.delay: expected",
    ],
    [() => andThen({ id: "a", execute, retry: { attempts: 2, maxDelay: -1 } }), "retry.maxDelay: expected"],
    [() => andThen({ id: "a", execute, timeout: wrong("1 hour") }), 'andThen "a", timeout: expected'],
    [() => createWorkflow({ id: "w", input, timeout: Number.NaN }), 'Workflow "w", timeout: expected'],
    [
      () => andAll(wrong<never>({ id: "a", steps: [step("b")], retry: { attempts: 2 } })),
      'andAll "a": retry and timeout belong to the steps inside',
    ],
    [() => andRace(wrong<never>({ id: "a", steps: [step("b")], timeout: 1 })), "belong to the steps inside"],
    [
      () => andWorkflow(wrong<never>({ id: "a", workflow: start(), timeout: 1 })),
      "belong to the steps inside",
    ],
    [() => andForEach({ id: "a", step: step("b"), concurrency: 0 }), "concurrency must be"],
    [() => andForEach({ id: "a", step: step("b"), items: wrong("list") }), "items must be a function"],
    [() => andForEach({ id: "a", step: wrong<never>(undefined) }), 'andForEach "a": a branch must be'],
    [() => andDoWhile({ ...looping, condition: wrong(true) }), "condition must be a function"],
    [() => andDoUntil({ ...looping, step: wrong<never>({}) }), 'andDoUntil "a": a branch must be'],
    [() => andBranch({ id: "a", branches: [] }), "at least one branch"],
    [
      () => andBranch({ id: "a", branches: [wrong<never>(null)] }),
      "branches[0].condition must be a function",
    ],
    [
      () =>
        andBranch({
          id: "a",
          branches: [
            { condition: () => true, step: step("same") },
            { condition: () => true, step: step("same") },
          ],
        }),
      'duplicate step id "same"',
    ],
    [() => andSleep({ id: "a", duration: wrong("later") }), 'andSleep "a", duration: expected milliseconds'],
    [() => andSleep({ id: "a", duration: Number.POSITIVE_INFINITY }), "expected milliseconds"],
    [() => andSleepUntil({ id: "a", date: "never" }), 'andSleepUntil "a": date is not a valid date'],
    [() => andSleepUntil({ id: "a", date: wrong(undefined) }), "date is not a valid date"],
  ])("refuses options that cannot work: %s", (define, message) => {
    expect(define).toThrow(DefinitionError);
    expect(define).toThrow(message);
  });
});
