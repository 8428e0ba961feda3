// Every kind of step, command by command: what it asks its driver for, and how it ends with the replies.
import { expect, test } from "vitest";
import { z } from "zod";
import type { Outcome } from "../../journal/outcome.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { andThen } from "../../workflow/steps/free-steps.ts";
import type { Command, Interpretation } from "./commands.ts";
import { interpretWorkflow } from "./interpret.ts";

const start = createWorkflow({ id: "w", input: z.unknown() });
const step = (id: string) => ({ id, execute: () => undefined });
const body = (id: string) => andThen(step(id));
const output = (value: string | undefined): Outcome => ({ kind: "output", value });
const failure: Outcome = { kind: "error", error: { name: "Error", message: "broken" } };
const bailed: Outcome = { kind: "bailed", value: '"early"' };
const skipped: Outcome = { kind: "skipped" };

/** More commands than any case here needs. */
const most = 60;

/** A command in one line. */
function lineOf(command: Command): string {
  switch (command.kind) {
    case "run": {
      const { path, function: name, place, extra, resumeData, attempt, waits } = command;
      const rest = [
        ...(extra === undefined ? [] : [`with ${extra}`]),
        ...(resumeData === undefined ? [] : [`resumed ${resumeData}`]),
        ...(attempt === 1 ? [] : [`attempt ${attempt}`]),
        ...(waits === 0 ? [] : [`after ${waits} waits`]),
      ];
      return [`run ${name} ${path} on ${place.data}`, ...rest].join(", ");
    }
    case "leave":
      return `leave ${command.place.path} ${command.outcome.kind}`;
    case "check":
      return `check ${command.isOwn ? "own " : ""}${command.what} of ${command.path}: ${command.value}`;
    case "until":
      return `until ${JSON.stringify(command.at)} at ${command.path}`;
    case "limit":
      return `limit ${command.after} of ${command.place.path}`;
    case "await-calls":
      return `await-calls ${command.paths.join(" ")}`;
    case "enter":
    case "round":
    case "await-resume":
      return `${command.kind} ${command.place.path}`;
    default: {
      const firsts = Array.from({ length: command.count }, (_, index) => command.firstPath(index) ?? "-");
      return `${command.kind} of ${command.count}, ${command.limit} at once: ${firsts.join(" ")}`;
    }
  }
}

/** Replies to commands by their lines up to the first comma or colon, in order; a check accepts, and branches run in order. */
function play(
  workflow: WorkflowDefinition,
  replies: Readonly<Record<string, readonly unknown[]>>,
  input = "1",
) {
  const lines: string[] = [];
  const left = new Map(Object.entries(replies).map(([line, each]) => [line, [...each]]));
  const reply = (command: Command): unknown => {
    const line = lineOf(command);
    lines.push(line);
    if (lines.length > most) throw new Error(`it does not end: ${lines.slice(0, 12).join("; ")}`);
    const key = line.replace(/[,:].*/, "");
    const scripted = left.get(key);
    if (scripted !== undefined && scripted.length > 0) return scripted.shift();
    if (command.kind === "check") return output(command.value);
    if (command.kind !== "all" && command.kind !== "race" && command.kind !== "first") return undefined;
    const outcomes = Array.from({ length: command.count }, (_, index) => drive(command.open(index)));
    return { outcomes, decisive: outcomes.find(({ kind }) => kind === "bailed") ?? outcomes[0] };
  };
  const drive = (interpretation: Interpretation): Outcome => {
    let next = interpretation.next();
    while (next.done !== true) next = interpretation.next(reply(next.value));
    return next.value;
  };
  const outcome = drive(interpretWorkflow(workflow, input));
  return { outcome, lines };
}

test("a body is run again after a retry at its time, and after a wait with the number of its waits", () => {
  const replies = [
    { kind: "retry", attempt: 2, at: 50 },
    { kind: "wait", waits: 3, at: 70 },
    { kind: "calls-suspended", paths: ["a#x", "a#y"] },
    { kind: "suspended" },
    output("2"),
  ];
  const given = { "run execute a on 1": replies, "await-resume a": [{ data: '"go"', expired: false }] };
  expect(play(start.andThen(step("a")), given)).toEqual({
    outcome: output("2"),
    lines: [
      "run execute a on 1",
      "until 50 at a",
      "run execute a on 1, attempt 2",
      "until 70 at a",
      "run execute a on 1, attempt 2, after 3 waits",
      "await-calls a#x a#y",
      "run execute a on 1, attempt 2, after 3 waits",
      "await-resume a",
      'run execute a on 1, resumed "go", attempt 2, after 3 waits',
    ],
  });
});

test("a suspension whose deadline has failed it ends the step with that error", () => {
  const given = {
    "run execute a on 1": [{ kind: "retry", attempt: 2, at: 50 }, { kind: "suspended" }],
    "await-resume a": [{ data: "null", expired: true }],
  };
  const { outcome, lines } = play(start.andThen(step("a")).andThen(step("b")), given);
  expect(lines.slice(-2)).toEqual(["await-resume a", "leave a error"]);
  expect(outcome).toMatchObject({ kind: "error", error: { name: "DeadlineError", step: "a" } });
});

test("the outcome of a container is the one that was recorded", () => {
  const workflow = start.andAll({ id: "all", steps: [body("a")] });
  const given = { "run execute all/a on 1": [output("2")], "leave all output": [failure] };
  expect(play(workflow, given).outcome).toEqual(failure);
});

test("a bail ends the workflow with its value, from any depth; a skipped step leaves the data as they are", () => {
  const workflow = start.andThen(step("a")).andThen(step("b"));
  expect(play(workflow, { "run execute a on 1": [bailed] })).toEqual({
    outcome: output('"early"'),
    lines: ["run execute a on 1"],
  });
  expect(play(workflow, { "run execute a on 1": [skipped], "run execute b on 1": [output("3")] })).toEqual({
    outcome: output("3"),
    lines: ["run execute a on 1", "run execute b on 1"],
  });
  const inner = start.andAll({ id: "all", steps: [(chain) => chain.andThen(step("a")).andThen(step("b"))] });
  expect(play(inner.andThen(step("c")), { "run execute all/a on 1": [bailed] })).toEqual({
    outcome: output('"early"'),
    lines: ["enter all", "all of 1, 1 at once: all/a", "run execute all/a on 1", "leave all bailed"],
  });
  const passed = { "run execute all/a on 1": [skipped], "run execute all/b on 1": [output("4")] };
  expect(play(inner, passed).outcome).toEqual(output("[4]"));
});

test("a tap passes its data on after any outcome but a bail", () => {
  const workflow = start.andTap(step("a"));
  for (const reply of [output("7"), failure, skipped])
    expect(play(workflow, { "run execute a on 1": [reply] }).outcome).toEqual(output("1"));
  expect(play(workflow, { "run execute a on 1": [bailed] }).outcome).toEqual(output('"early"'));
});

test("the input of a container is checked before, its output after its steps", () => {
  const schema = z.unknown();
  const workflow = start.andAll({
    ...{ id: "all", inputSchema: schema, outputSchema: schema, steps: [body("a")] },
  });
  const given = { "check input of all": [output("5")], "run execute all/a on 5": [output("6")] };
  expect(play(workflow, given).lines).toEqual([
    ...["enter all", "check input of all: 1", "all of 1, 1 at once: all/a", "run execute all/a on 5"],
    ...["check own output of all: [6]", "leave all output"],
  ]);
  expect(play(workflow, { "check input of all": [failure] })).toEqual({
    outcome: failure,
    lines: ["enter all", "check input of all: 1", "leave all error"],
  });
  // The failure of its steps is not checked.
  expect(play(workflow, { "run execute all/a on 1": [failure] }).lines.slice(-1)).toEqual([
    "leave all error",
  ]);
});

test.each<[string, WorkflowDefinition, boolean]>([
  ["andDoWhile", start.andDoWhile({ id: "loop", condition: () => true, step: body("a") }), true],
  ["andDoUntil", start.andDoUntil({ id: "loop", condition: () => true, step: body("a") }), false],
])("%s: a round after the other, as long as its condition says", (_, workflow, continues) => {
  const given = {
    "run execute loop[0]/a on 1": [output("2")],
    "run condition loop[0]#condition on 2": [output(String(continues))],
    "run execute loop[1]/a on 2": [output("3")],
    "run condition loop[1]#condition on 3": [output(String(!continues))],
  };
  expect(play(workflow, given)).toEqual({
    outcome: output("3"),
    lines: ["enter loop", "round loop", ...Object.keys(given), "leave loop output"],
  });
  // It continues in the round that the journal has reached.
  const later = {
    "round loop": [{ number: 4, data: "8" }],
    "run execute loop[4]/a on 8": [output("9")],
    "run condition loop[4]#condition on 9": [failure],
  };
  expect(play(workflow, later)).toEqual({
    outcome: failure,
    lines: ["enter loop", ...Object.keys(later), "leave loop error"],
  });
  expect(play(workflow, { "run execute loop[0]/a on 1": [bailed] }).lines).toEqual([
    ...["enter loop", "round loop", "run execute loop[0]/a on 1", "leave loop bailed"],
  ]);
});

test("andForEach: its step for each item, as many at once as it allows", () => {
  const each = start.andForEach({ id: "each", concurrency: 2, step: body("a") });
  const given = {
    "run execute each[0]/a on 7": [output("70")],
    'run execute each[1]/a on "b"': [output("80")],
  };
  const { outcome, lines } = play(each, given, '[7,"b"]');
  expect(outcome).toEqual(output("[70,80]"));
  expect(lines).toEqual([
    ...["enter each", "all of 2, 2 at once: each[0]/a each[1]/a", "run execute each[0]/a on 7"],
    ...['run execute each[1]/a on "b"', "leave each output"],
  ]);
  expect(play(each, {}, "[]")).toEqual({ outcome: output("[]"), lines: ["enter each", "leave each output"] });
  expect(play(each, {}, "{}").outcome).toEqual({
    kind: "error",
    error: expect.objectContaining({
      ...{ name: "StepSchemaError", step: "each" },
      message: "Step each: items validation failed: expected an array",
    }),
  });
});

test("andForEach with a function: its items, or its failure", () => {
  const each = start.andForEach({ id: "each", items: () => [], concurrency: 3, step: body("a") });
  const given = { "run items each#items on 1": [output("[7]")], "run execute each[0]/a on 7": [bailed] };
  expect(play(each, given)).toEqual({
    outcome: output('"early"'),
    lines: [
      ...["enter each", "run items each#items on 1", "all of 1, 3 at once: each[0]/a"],
      ...["run execute each[0]/a on 7", "leave each bailed"],
    ],
  });
  expect(play(each, { "run items each#items on 1": [failure] }).outcome).toEqual(failure);
  expect(play(each, { "run items each#items on 1": [output("5")] }).outcome).toMatchObject({ kind: "error" });
});

test("andSleep and andSleepUntil: a time that is given, or that a function returns", () => {
  const asleep = (workflow: WorkflowDefinition, given: Record<string, readonly unknown[]> = {}) =>
    play(workflow, given).lines.slice(1, -1);
  expect(asleep(start.andSleep({ id: "nap", duration: "2s" }))).toEqual(['until {"after":2000} at nap']);
  expect(asleep(start.andSleepUntil({ id: "nap", date: new Date(5000) }))).toEqual(["until 5000 at nap"]);
  const lasting = start.andSleep({ id: "nap", duration: () => "1s" });
  const asked = "run duration nap#duration on 1";
  expect(asleep(lasting, { [asked]: [output('"3s"')] })).toEqual([asked, 'until {"after":3000} at nap']);
  const dated = start.andSleepUntil({ id: "nap", date: () => new Date(0) });
  const date = "run date nap#date on 1";
  expect(asleep(dated, { [date]: [output('"1970-01-01T00:00:07.000Z"')] })).toEqual([
    ...[date, "until 7000 at nap"],
  ]);
  // The data pass unchanged.
  expect(play(lasting, { [asked]: [output("0")] }).outcome).toEqual(output("1"));
  for (const [workflow, line, reply, expected] of [
    [lasting, asked, failure, "broken"],
    [lasting, asked, output('"soon"'), "duration"],
    [dated, date, failure, "broken"],
    [dated, date, output('"soon"'), "expected a date"],
  ] as const) {
    const { outcome, lines } = play(workflow, { [line]: [reply] });
    expect(outcome).toMatchObject({ kind: "error", error: { message: expect.stringContaining(expected) } });
    expect(lines).toEqual(["enter nap", line, "leave nap error"]);
    if (reply !== failure) expect(outcome).toMatchObject({ error: { name: "StepSchemaError", step: "nap" } });
  }
});

test("andWhen: a condition that bails or is not true skips its step", () => {
  const workflow = start.andWhen({ id: "when", condition: () => true, step: body("a") });
  const condition = "run condition when#condition on 1";
  for (const reply of [bailed, skipped, output("1"), output(undefined)])
    expect(play(workflow, { [condition]: [reply] }).lines).toEqual([
      ...["enter when", condition, "leave when skipped"],
    ]);
});

test("andBranch: the first branch whose condition holds, and none when none does", () => {
  const workflow = start.andBranch({
    id: "branch",
    branches: [
      { condition: () => true, step: body("a") },
      { condition: () => true, step: body("b") },
    ],
  });
  const conditions = [
    "run condition branch[0]#condition on 1",
    "run condition branch[1]#condition on 1",
  ] as const;
  const [first, second] = conditions;
  const asked = [`${first}, with 0`, `${second}, with 1`];
  const other = { [first]: [output("false")], [second]: [output("true")] };
  expect(play(workflow, { ...other, "run execute branch/b on 1": [output("6")] })).toEqual({
    outcome: output("6"),
    lines: ["enter branch", ...asked, "run execute branch/b on 1", "leave branch output"],
  });
  const chosen = play(workflow, { [first]: [output("true")], "run execute branch/a on 1": [output("5")] });
  expect(chosen).toEqual({
    outcome: output("5"),
    lines: ["enter branch", asked[0], "run execute branch/a on 1", "leave branch output"],
  });
  expect(play(workflow, { [first]: [output("no")], [second]: [output("no")] }).lines).toEqual([
    ...["enter branch", ...asked, "leave branch skipped"],
  ]);
  expect(play(workflow, { [first]: [failure] }).lines).toEqual([
    "enter branch",
    asked[0],
    "leave branch error",
  ]);
});

test("andRace ends as the branch that decided", () => {
  const workflow = start.andRace({ id: "race", steps: [body("a"), body("b")] });
  const given = { "run execute race/a on 1": [output("2")], "run execute race/b on 1": [output("3")] };
  expect(play(workflow, given)).toEqual({
    outcome: output("2"),
    lines: ["enter race", "race of 2, 2 at once: race/a race/b", ...Object.keys(given), "leave race output"],
  });
});

test("andAgent: the prompt, or the result of its function", () => {
  const agent = { generate: async () => ({ text: "" }) };
  const text = start.andAgent({ id: "ask", agent, prompt: "hello" });
  expect(play(text, { "run agent ask on 1": [output("2")] }).lines).toEqual([
    'run agent ask on 1, with "hello"',
  ]);
  const made = start.andAgent({ id: "ask", agent, prompt: () => "hello" });
  const prompt = "run prompt ask#prompt on 1";
  const given = { [prompt]: [output('"hi"')], "run agent ask on 1": [output("2")] };
  expect(play(made, given)).toEqual({
    outcome: output("2"),
    lines: ["enter ask", prompt, 'run agent ask on 1, with "hi"'],
  });
  expect(play(made, { "enter ask": [output("9")] })).toEqual({ outcome: output("9"), lines: ["enter ask"] });
  expect(play(made, { [prompt]: [failure] })).toEqual({
    outcome: failure,
    lines: ["enter ask", prompt, "leave ask error"],
  });
  const without = { [prompt]: [skipped], "run agent ask on 1": [output("2")] };
  expect(play(made, without).lines).toEqual(["enter ask", prompt, "run agent ask on 1"]);
});

const child = createWorkflow({ id: "child", input: z.unknown(), result: z.unknown() }).andThen(step("a"));

test("andWorkflow: the input and the result of the child are checked, a bail in it is its result", () => {
  const workflow = start.andWorkflow({ id: "sub", workflow: child });
  const input = "check input of workflow child of sub";
  const begun = ["enter sub", `${input}: 1`];
  expect(play(workflow, { [input]: [failure] })).toEqual({
    outcome: failure,
    lines: [...begun, "leave sub error"],
  });
  const given = { [input]: [output("5")], "run execute sub/a on 5": [bailed] };
  expect(play(workflow, given)).toEqual({
    outcome: output('"early"'),
    lines: [
      ...[...begun, "run execute sub/a on 5", 'check own result of workflow child of sub: "early"'],
      "leave sub output",
    ],
  });
  expect(play(workflow, { "run execute sub/a on 1": [failure] }).lines).toEqual([
    ...[...begun, "run execute sub/a on 1", "leave sub error"],
  ]);
});

test("andWorkflow with a timeout: it is waited for again where pauses have moved it", () => {
  const limited = createWorkflow({ id: "child", input: z.unknown(), timeout: 70 }).andThen(step("a"));
  const workflow = start.andWorkflow({ id: "sub", workflow: limited });
  const given = {
    "run execute sub/a on 1": [failure],
    "limit 70 of sub": [100, 130, 130, 130],
    "until 100 at sub": [100],
    "until 130 at sub": [130],
  };
  const { lines, outcome } = play(workflow, given);
  expect(lines.slice(2, -1)).toEqual([
    ...["first of 2, 2 at once: - -", "run execute sub/a on 1", "limit 70 of sub", "until 100 at sub"],
    ...["limit 70 of sub", "limit 70 of sub", "until 130 at sub", "limit 70 of sub"],
  ]);
  expect(outcome).toEqual(failure);
  const out = play(workflow, {
    "first of 2": [{ outcomes: [], decisive: { kind: "error", error: { name: "T", message: "late" } } }],
  });
  expect(out.outcome).toMatchObject({ error: { message: "late" } });
});

test("the failure of a timeout names the step and the time", () => {
  const limited = createWorkflow({ id: "child", input: z.unknown(), timeout: 70 }).andThen(step("a"));
  const workflow = start.andWorkflow({ id: "sub", workflow: limited });
  const interpretation = interpretWorkflow(workflow, "1");
  interpretation.next();
  interpretation.next(undefined);
  const { value: branches } = interpretation.next(output("1"));
  if (!("open" in branches)) throw new Error("it has no branches");
  const timeOut = branches.open(1);
  expect(timeOut.next().value).toMatchObject({ kind: "limit", after: 70 });
  expect(timeOut.next(100).value).toMatchObject({ kind: "until", path: "sub", at: 100 });
  expect(timeOut.next(100).value).toMatchObject({ kind: "limit" });
  expect(timeOut.next(100)).toMatchObject({
    done: true,
    value: {
      kind: "error",
      error: { name: "StepTimeoutError", step: "sub", message: expect.stringContaining("70") },
    },
  });
});

test("bodies see the workflow that they belong to, its input, and the top-level step", () => {
  const scopes: unknown[] = [];
  const workflow = start.andThen(step("first")).andWorkflow({ id: "sub", workflow: child });
  const interpretation = interpretWorkflow(workflow, "1");
  let next = interpretation.next();
  while (next.done !== true) {
    const command = next.value;
    if (command.kind === "run") {
      const { workflow: of, input, stepIndex } = command.place.scope;
      scopes.push([command.path, of.id, input, stepIndex]);
    }
    next = interpretation.next(command.kind === "check" || command.kind === "run" ? output("8") : undefined);
  }
  expect(scopes).toEqual([
    ["first", "w", "1", 0],
    ["sub/a", "child", "8", 1],
  ]);
});
