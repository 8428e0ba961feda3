// The interpreter as a function: commands come out, replies go in, nothing else happens.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Outcome } from "../../journal/outcome.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import { andThen } from "../../workflow/steps/free-steps.ts";
import type { Command, Interpretation, RunReply } from "./commands.ts";
import { interpretWorkflow } from "./interpret.ts";

const start = createWorkflow({ id: "w", input: z.unknown() });
const output = (value: unknown): Outcome => ({ kind: "output", value: JSON.stringify(value) });
const failure: Outcome = { kind: "error", error: { name: "Error", message: "broken" } };

/** Plays the driver: bodies end as `replies` say by path, branches run one after the other; keeps the commands. */
function play(workflow: WorkflowDefinition, input: unknown, replies: Record<string, readonly RunReply[]>) {
  const commands: string[] = [];
  const left = new Map(Object.entries(replies).map(([path, each]) => [path, [...each]]));
  const reply = (command: Command): unknown => {
    switch (command.kind) {
      case "run": {
        const given = command.resumeData === undefined ? "" : ` resumed ${command.resumeData}`;
        commands.push(`run ${command.path} ${command.place.data}${given}`);
        return left.get(command.path)?.shift();
      }
      case "enter":
        commands.push(`enter ${command.place.path}`);
        return left.get(`enter ${command.place.path}`)?.shift();
      case "round":
        return undefined;
      case "leave":
        commands.push(`leave ${command.place.path} ${command.outcome.kind}`);
        return undefined;
      case "await-resume":
        commands.push(`await-resume ${command.place.path}`);
        return { data: '"yes"', expired: false };
      case "await-calls":
        commands.push(`await-calls ${command.paths.join(", ")}`);
        return undefined;
      case "until":
        commands.push(`until ${JSON.stringify(command.at)} at ${command.path}`);
        return command.at;
      case "limit":
        return command.after;
      case "check":
        commands.push(`check ${command.what} of ${command.path}`);
        return { kind: "output", value: command.value };
      case "all":
      case "race":
      case "first": {
        commands.push(`${command.kind} of ${command.count}, ${command.limit} at once`);
        const outcomes = Array.from({ length: command.count }, (_, index) => drive(command.open(index)));
        const counts = { all: "error", race: "output", first: undefined }[command.kind];
        return { outcomes, decisive: outcomes.find(({ kind }) => kind === counts) ?? outcomes[0] };
      }
    }
  };
  const drive = (interpretation: Interpretation): Outcome => {
    let next = interpretation.next();
    while (next.done !== true) next = interpretation.next(reply(next.value));
    return next.value;
  };
  return { outcome: drive(interpretWorkflow(workflow, JSON.stringify(input))), commands };
}

const body = (id: string) => ({ id, execute: () => undefined });

describe("the interpreter asks for", () => {
  test("andThen: its body, with the output before as data", () => {
    const workflow = start.andThen(body("a")).andThen(body("b"));
    expect(play(workflow, 1, { a: [output(2)], b: [output(3)] })).toEqual({
      commands: ["run a 1", "run b 2"],
      outcome: output(3),
    });
  });

  test("andThen that fails: nothing after it", () => {
    const workflow = start.andThen(body("a")).andThen(body("b"));
    expect(play(workflow, 1, { a: [failure] })).toEqual({ commands: ["run a 1"], outcome: failure });
  });

  test("a body that suspends: the resume, then the body again, as often as it suspends", () => {
    const suspended: RunReply = { kind: "suspended" };
    expect(play(start.andThen(body("a")), 1, { a: [suspended, suspended, output(2)] })).toEqual({
      commands: [
        "run a 1",
        "await-resume a",
        'run a 1 resumed "yes"',
        "await-resume a",
        'run a 1 resumed "yes"',
      ],
      outcome: output(2),
    });
  });

  test("andTap: its body, whose outcome changes nothing", () => {
    const workflow = start.andTap(body("look")).andTap(body("fail")).andThen(body("b"));
    expect(play(workflow, 1, { look: [output(9)], fail: [failure], b: [output(2)] })).toEqual({
      commands: ["run look 1", "run fail 1", "run b 1"],
      outcome: output(2),
    });
  });

  test("andWhen: the condition, then its step or nothing", () => {
    const workflow = start.andWhen({ id: "when", condition: () => true, step: andThen(body("inner")) });
    const holds = play(workflow, 1, { "when#condition": [output(true)], "when/inner": [output(2)] });
    expect(holds).toEqual({
      commands: ["enter when", "run when#condition 1", "run when/inner 1", "leave when output"],
      outcome: output(2),
    });
    const skips = play(workflow, 1, { "when#condition": [output(false)] });
    expect(skips).toEqual({
      commands: ["enter when", "run when#condition 1", "leave when skipped"],
      outcome: output(1),
    });
    const fails = play(workflow, 1, { "when#condition": [failure] });
    expect(fails.outcome).toEqual(failure);
  });

  test("andAll: all branches with the same data, then the outputs in order", () => {
    const workflow = start.andAll({
      id: "all",
      steps: [andThen(body("a")), (chain) => chain.andThen(body("b")).andThen(body("c"))],
    });
    const replies = { "all/a": [output("A")], "all/b": [output("B")], "all/c": [output("C")] };
    expect(play(workflow, 1, replies)).toEqual({
      commands: [
        "enter all",
        "all of 2, 2 at once",
        "run all/a 1",
        "run all/b 1",
        'run all/c "B"',
        "leave all output",
      ],
      outcome: output(["A", "C"]),
    });
    expect(play(workflow, 1, { ...replies, "all/b": [failure] }).outcome).toEqual(failure);
  });

  test("andAll: no output counts as null", () => {
    const workflow = start.andAll({ id: "all", steps: [andThen(body("a"))] });
    const nothing: Outcome = { kind: "output", value: undefined };
    expect(play(workflow, 1, { "all/a": [nothing] }).outcome).toEqual(output([null]));
  });

  test("andRace: all branches, then the one that decided", () => {
    const workflow = start.andRace({ id: "race", steps: [andThen(body("a")), andThen(body("b"))] });
    expect(play(workflow, 1, { "race/a": [failure], "race/b": [output(2)] })).toEqual({
      commands: ["enter race", "race of 2, 2 at once", "run race/a 1", "run race/b 1", "leave race output"],
      outcome: output(2),
    });
    expect(play(workflow, 1, { "race/a": [failure], "race/b": [failure] }).outcome).toEqual(failure);
  });

  test("andAgent: the prompt when it is a function, then the agent", () => {
    const agent = { generate: async () => ({ text: "" }) };
    const text = start.andAgent({ id: "ask", agent, prompt: "hello" });
    expect(play(text, 1, { ask: [output({ text: "hi" })] }).commands).toEqual(["run ask 1"]);
    const made = start.andAgent({ id: "ask", agent, prompt: () => "hello" });
    expect(play(made, 1, { "ask#prompt": [output("hello")], ask: [output({ text: "hi" })] })).toEqual({
      commands: ["enter ask", "run ask#prompt 1", "run ask 1"],
      outcome: output({ text: "hi" }),
    });
    expect(play(made, 1, { "ask#prompt": [failure] }).commands).toContain("leave ask error");
  });

  test("andWorkflow: the child's schemas and steps, under its path", () => {
    const child = createWorkflow({ id: "child", input: z.unknown(), result: z.unknown() }).andThen(
      body("leaf"),
    );
    const workflow = start.andWorkflow({ id: "sub", workflow: child });
    expect(play(workflow, 1, { "sub/leaf": [output(2)] })).toEqual({
      commands: [
        "enter sub",
        "check input of workflow child of sub",
        "run sub/leaf 1",
        "check result of workflow child of sub",
        "leave sub output",
      ],
      outcome: output(2),
    });
  });

  test("andWorkflow with a timeout: the first of its steps and the time since its start", () => {
    const child = createWorkflow({ id: "child", input: z.unknown(), timeout: "1s" }).andThen(body("leaf"));
    const workflow = start.andWorkflow({ id: "sub", workflow: child });
    expect(play(workflow, 1, { "sub/leaf": [output(2)] }).commands).toEqual([
      "enter sub",
      "check input of workflow child of sub",
      "first of 2, 2 at once",
      "run sub/leaf 1",
      "until 1000 at sub",
      "leave sub output",
    ]);
  });

  test("schemas of containers and of the result", () => {
    const schema = z.unknown();
    const workflow = createWorkflow({ id: "w", input: schema, result: schema }).andAll({
      id: "all",
      inputSchema: schema,
      outputSchema: schema,
      steps: [andThen(body("a"))],
    });
    expect(play(workflow, 1, { "all/a": [output(2)] }).commands).toEqual([
      "enter all",
      "check input of all",
      "all of 1, 1 at once",
      "run all/a 1",
      "check output of all",
      "leave all output",
      "check result of workflow w",
    ]);
  });

  test("nothing inside a container whose outcome is known", () => {
    const workflow = start.andAll({ id: "all", steps: [andThen(body("a"))] }).andThen(body("b"));
    expect(play(workflow, 1, { "enter all": [output([7])], b: [output(8)] })).toEqual({
      commands: ["enter all", "run b [7]"],
      outcome: output(8),
    });
  });
});
