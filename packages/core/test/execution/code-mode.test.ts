// Code mode of the AI SDK, with its own sandbox: the model's code calls tools, and each call is recorded below that of the code.
import { experimental_codeModeTool } from "@ai-sdk/code-mode";
import { tool } from "ai";
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { durable } from "../../src/agent/call/durable.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { flow, onMemory } from "../support/test-andante.ts";

let done: string[] = [];
const reset = () => {
  done = [];
};
beforeEach(reset);

const work = tool({
  inputSchema: z.object({ id: z.string() }),
  execute: ({ id }) => {
    done.push(id);
    return `did ${id}`;
  },
});
const ask = tool({
  inputSchema: z.object({ question: z.string() }),
  execute: async ({ question }, options) => String(await durable(options).suspend(question)),
});

/** An agent whose model writes these pieces of code, one after the other, and then reports their results. */
function coder(...programs: readonly string[]) {
  const model = controlledModel(({ prompt }) => {
    const results = prompt.filter(({ role }) => role === "tool");
    const js = programs[results.length];
    if (js !== undefined) return { calls: [{ name: "code", input: { js } }] };
    const outputs = results.flatMap(({ content }) => [...content]).map((part) => Object(part).output.value);
    return { text: [JSON.stringify(outputs)] };
  });
  return new Agent({
    ...{ id: "coder", model, tools: { code: experimental_codeModeTool(), work, ask } },
    experimental_toolCallers: { work: ["code"], ask: ["code"] },
  });
}

const both = 'return await Promise.all([tools.work({ id: "one" }), tools.work({ id: "two" })]);';
const third = 'return [await tools.work({ id: "three" })];';

test("after a crash at any write the tools that the code has called do not run again", async () => {
  const workflow = flow().andAgent({ id: "ask", agent: coder(both, third), prompt: "p" });
  const { expected, runs } = await crashTest({
    ...{ workflow, input: {}, timeout: 60_000, reset },
    observe: () => [...done],
  });
  expect(expected).toMatchObject({
    result: { text: '[["did one","did two"],["did three"]]' },
    observed: ["one", "two", "three"],
  });
  for (const { variant, write, ending } of runs) {
    const where = `write ${write} ${variant}`;
    expect([ending.status, ending.result], where).toEqual(["completed", expected.result]);
    if (variant === "unacknowledged") expect(ending.observed, where).toEqual(expected.observed);
  }
  const events = runs.map((run) => run.events).join("\n");
  for (const path of ["call[0].tool[0].tool[0]", "call[0].tool[0].tool[1]", "call[1].tool[0].tool[0]"])
    expect(events).toContain(`checkpoint-complete ask#${path}`);
}, 120_000);

onMemory((bench) => {
  test("two replies at once have the calls of their own code", async () => {
    const workflow = flow().andAgent({ id: "ask", agent: coder(both, third), prompt: "p" });
    const andante = bench.andante(workflow);
    for (let round = 0; round < 2; round++) {
      const ended = await Promise.all([1, 2].map(() => andante.execute(workflow.id, {})));
      for (const { executionId } of ended) {
        const events = await andante.events(workflow.id, executionId);
        const paths = events.flatMap(({ type, stepPath }) =>
          type === "checkpoint-complete" ? [String(stepPath)] : [],
        );
        expect(paths.filter((path) => path.includes("tool[0].tool")).toSorted()).toEqual([
          ...["ask#call[0].tool[0].tool[0]", "ask#call[0].tool[0].tool[1]"],
          "ask#call[1].tool[0].tool[0]",
        ]);
      }
    }
  });

  test("a tool that the code calls may wait for a person", async () => {
    const program =
      'const did = await tools.work({ id: "one" }); return [did, await tools.ask({ question: "Now?" })];';
    const workflow = flow().andAgent({ id: "ask", agent: coder(program), prompt: "p" });
    const andante = bench.andante(workflow);
    const waits = await andante.execute(workflow.id, {});
    expect(waits).toMatchObject({ status: "suspended", suspension: { reason: "Now?" } });
    const ended = await andante.resume(workflow.id, waits.executionId, "yes");
    expect(ended).toMatchObject({ status: "completed", result: { text: '[["did one","yes"]]' } });
    expect(done).toEqual(["one"]);
  });
});
