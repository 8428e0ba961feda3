// The AI SDK's own ways under durable execution: tools that it runs by itself, callbacks, prepared calls and its own agent.
import { exec } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import {
  type Experimental_SandboxSession,
  experimental_toolCaller,
  ToolLoopAgent,
  type ToolSet,
  tool,
  toolSearch,
} from "ai";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import { durable } from "../../src/agent/call/durable.ts";
import { PublicError } from "../../src/errors/index.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { type ScriptedTurn, scriptedModel } from "../../src/test-kit/scripted-model.ts";
import { flow, onMemory } from "../support/test-andante.ts";

type Prompt = readonly { readonly role: string }[];

/** A model that replies by how many results of tools it has read. */
const stepwise = (...turns: ScriptedTurn[]) =>
  scriptedModel(
    Array.from({ length: 500 }, () => ({ prompt }: { prompt: Prompt }) => {
      return turns[prompt.filter(({ role }) => role === "tool").length] ?? "too many";
    }),
  );

let done: string[] = [];
beforeEach(() => {
  done = [];
});
const inputSchema = z.object({});
const weather = tool({
  ...{ description: "The weather of a city", deferLoading: true },
  inputSchema,
  execute: () => {
    done.push("weather");
    return "sunny";
  },
});

type Sandbox = Experimental_SandboxSession;

/** Its commands are processes of this machine; it has no other functions. */
function localSandbox(): Sandbox {
  const run: Sandbox["run"] = async ({ command }) => {
    const { stdout, stderr } = await promisify(exec)(command, { cwd: tmpdir() });
    done.push(stdout);
    return { exitCode: 0, stdout, stderr };
  };
  return Object({ description: "the folder for temporary files", run });
}

/** Crashes at each write; returns how often each effect happened in runs whose crash came after the commit of a call. */
async function crashed(options: Partial<AgentOptions>) {
  const agent = new Agent({ id: "a", model: "test/model", ...options });
  const workflow = flow().andAgent({ id: "ask", agent, prompt: "p" });
  const reset = () => {
    done = [];
  };
  const { expected, runs } = await crashTest({
    workflow,
    input: {},
    timeout: 30_000,
    reset,
    observe: () => [...done],
  });
  expect(runs.map(({ ending }) => [ending.status, ending.result])).toEqual(
    runs.map(() => ["completed", expected.result]),
  );
  const committed = runs.filter(({ variant }) => variant === "unacknowledged");
  for (const { ending } of committed) expect(ending.observed).toEqual(expected.observed);
  return { expected, events: runs.map(({ events }) => events).join("\n") };
}

/** A tool whose code calls the tool `step` twice, one after the other. */
function caller(options: { readonly yields?: boolean } = {}) {
  const plain = tool({ inputSchema, execute: () => "unbound" });
  return experimental_toolCaller(plain, {
    type: "local",
    bind: (tools) => {
      const call = (id: string, given: object) =>
        tools.step?.execute?.({ id }, Object({ ...given, toolCallId: String(Math.random()) }));
      const returns = async (_: unknown, given: object) => [
        await call("one", given),
        await call("two", given),
      ];
      async function* yields(_: unknown, given: object) {
        const one = await call("one", given);
        yield [one];
        yield [one, await call("two", given)];
      }
      return { ...plain, execute: options.yields ? yields : returns };
    },
  });
}

describe("tools that the AI SDK runs by itself are recorded like others", () => {
  test.each([
    [
      "of the host",
      () => {
        done.push("search");
        return ["weather"];
      },
      ["search", "weather"],
    ],
    ["of the AI SDK", undefined, ["weather"]],
  ] as const)("tool search with a search function %s", async (_, search, effects) => {
    const tools: ToolSet = { search: toolSearch(search && { search }), weather };
    const model = stepwise(
      { toolCalls: [{ toolName: "search", input: { query: "weather forecast" } }] },
      { toolCalls: [{ toolName: "weather" }] },
      "It is sunny.",
    );
    const { expected, events } = await crashed({ model, tools });
    expect([expected.result, expected.observed]).toEqual([{ text: "It is sunny." }, effects]);
    expect(events).toContain("checkpoint-complete ask#call[0].tool[0]");
    expect(model.calls.at(-1)?.tools?.map(({ name }) => name)).toEqual(["search", "weather"]);
  });

  test("a tool whose code calls other tools, each of which is recorded below it", async () => {
    const step = tool({
      inputSchema: z.object({ id: z.string() }),
      execute: ({ id }) => {
        done.push(id);
        return `did ${id}`;
      },
    });
    const tools: ToolSet = { code: caller(), step };
    const model = stepwise({ toolCalls: [{ toolName: "code" }] }, "Done.");
    const { expected, events } = await crashed({
      model,
      tools,
      experimental_toolCallers: { step: ["code"] },
    });
    expect(expected.observed).toEqual(["one", "two"]);
    expect(events).toContain("checkpoint-complete ask#call[0].tool[0].tool[1]");
    expect(events).toContain("checkpoint-complete ask#call[0].tool[0]\n");
  });

  test.each([
    ["an option of the agent", (sandbox: Sandbox) => ({ experimental_sandbox: sandbox })],
    ["of prepareStep", (sandbox: Sandbox) => ({ prepareStep: () => ({ experimental_sandbox: sandbox }) })],
  ])("a tool that runs commands in a sandbox, %s", async (_, settings) => {
    const shell = tool({
      description: ({ experimental_sandbox }) => `Runs commands in ${experimental_sandbox?.description}`,
      inputSchema: z.object({ command: z.string() }),
      execute: async ({ command }, { experimental_sandbox }) => experimental_sandbox?.run({ command }),
    });
    const model = stepwise(
      { toolCalls: [{ toolName: "shell", input: { command: "echo one" } }] },
      { toolCalls: [{ toolName: "shell", input: { command: "echo two" } }] },
      "Done.",
    );
    const { expected, events } = await crashed({ model, tools: { shell }, ...settings(localSandbox()) });
    expect([expected.result, expected.observed]).toEqual([{ text: "Done." }, ["one\n", "two\n"]]);
    for (const call of [0, 1]) expect(events).toContain(`checkpoint-complete ask#call[${call}].tool[0]`);
    const last = model.calls.at(-1);
    expect(JSON.stringify(last?.prompt)).toContain('"stdout":"two\\n"');
    expect(last?.tools).toMatchObject([
      { description: expect.stringContaining("folder for temporary files") },
    ]);
  });

  onMemory((bench) => {
    test.each([
      ["returns", {}],
      ["yields", { yields: true }],
    ])(
      "a tool that the code of a tool that %s calls may wait, and those before it do not run again",
      async (_, options) => {
        const step = tool({
          inputSchema: z.object({ id: z.string() }),
          execute: async ({ id }, options) => {
            done.push(id);
            return id === "two" ? durable(options).suspend("Go on?") : id;
          },
        });
        const agent = new Agent({
          ...{ id: "a", model: stepwise({ toolCalls: [{ toolName: "code" }] }, "Done.") },
          ...{ tools: { code: caller(options), step }, experimental_toolCallers: { step: ["code"] } },
        });
        const workflow = flow().andAgent({ id: "ask", agent, prompt: "p" });
        const andante = bench.andante(workflow);
        const { executionId, suspension } = await andante.execute(workflow.id, {});
        expect(suspension).toMatchObject({
          ...{ reason: "Go on?", stepPath: "ask#call[0].tool[0].tool[1].suspend[0]" },
        });
        expect(await andante.resume(workflow.id, executionId, "yes")).toMatchObject({
          result: { text: "Done." },
        });
        expect(done).toEqual(["one", "two", "two"]);
        const events = await andante.events(workflow.id, executionId);
        const code = events.filter(({ stepPath }) => stepPath === "ask#call[0].tool[0]");
        expect(JSON.stringify(code)).toContain('["one","yes"]');
      },
    );

    test("a hook may refuse a search", async () => {
      const onToolStart = () => {
        throw new PublicError("No searching");
      };
      const search = toolSearch({
        search: () => {
          done.push("search");
          return [];
        },
      });
      const model = stepwise({ toolCalls: [{ toolName: "search", input: { query: "x" } }] }, "Well.");
      const agent = new Agent({ id: "a", model, tools: { search, weather }, hooks: { onToolStart } });
      const { agents } = bench.andanteWith({ agents: { agent } });
      await agents.text("a", "hi");
      await agents.text("a", "hi", { conversationId: "search" });
      expect(done).toEqual([]);
      expect(JSON.stringify(model.calls.at(-1)?.prompt)).toContain("No searching");
    });
  });
});

test("callbacks report each call once, also over a crash", async () => {
  const look = tool({ inputSchema, execute: () => "seen" });
  const note = (name: string) => () => void done.push(name);
  const names = ["onStart", "onStepStart", "onLanguageModelCallStart", "onLanguageModelCallEnd"] as const;
  const more = ["onToolExecutionStart", "onToolExecutionEnd", "onStepEnd"] as const;
  const callbacks = Object.fromEntries([...names, ...more].map((name) => [name, note(name)]));
  const model = stepwise({ toolCalls: [{ toolName: "look" }] }, "Seen.");
  const agent = new Agent({ id: "a", model, tools: { look }, ...callbacks, onFinish: note("onEnd") });
  const workflow = flow().andAgent({ id: "ask", agent, prompt: "p" });
  const reset = () => {
    done = [];
  };
  const { expected, runs } = await crashTest({
    workflow,
    input: {},
    timeout: 30_000,
    reset,
    observe: () => [...done],
  });
  const call = ["onStepStart", "onLanguageModelCallStart", "onLanguageModelCallEnd"];
  expect(expected.observed).toEqual([
    ...["onStart", ...call, "onToolExecutionStart", "onToolExecutionEnd", "onStepEnd"],
    ...[...call, "onStepEnd", "onEnd"],
  ]);
  // A crash after the commit of the first call: the reply was started, and that call was made, before it.
  const afterCall = runs.find(
    ({ variant, events }) =>
      variant === "unacknowledged" && events.endsWith("checkpoint-complete ask#call[0]"),
  );
  const observed = afterCall?.ending.observed as string[];
  expect(observed.filter((name) => name === "onStart")).toHaveLength(1);
  expect(observed.filter((name) => name === "onToolExecutionEnd")).toHaveLength(1);
});

test("a callback that throws is logged, and one of the caller follows the agent's", async () => {
  const onStepEnd = () => {
    throw new Error("oops");
  };
  const agent = new Agent({
    id: "a",
    model: stepwise("Hello."),
    onStepEnd,
    onEnd: () => void done.push("own"),
  });
  const { text } = await agent.generate({
    ...{ prompt: "hi", onStepEnd: () => void done.push("step"), onEnd: () => void done.push("caller") },
  });
  expect([text, done]).toEqual(["Hello.", ["step", "own", "caller"]]);
});

onMemory((bench) => {
  test("call options are the agent's, of the operation, and a caller cannot set them", async () => {
    const model = stepwise("Hello.");
    const agent = new Agent({
      ...{ id: "a", model, instructions: "Help." },
      callOptionsSchema: z.object({ role: z.enum(["admin", "user"]) }),
      callOptions: ({ userId }) => ({ role: userId === "root" ? ("admin" as const) : ("user" as const) }),
      prepareCall: ({ options, ...settings }) => ({
        ...settings,
        instructions: `${settings.instructions} ${options.role}`,
        temperature: 0.5,
      }),
    });
    const { agents } = bench.andanteWith({ agents: { agent } });
    await agents.text("a", "hi", {
      userId: "ada",
      conversationId: "options",
      ...{ callOptions: { role: "admin" } },
    });
    await agent.generate({ prompt: "hi", options: { role: "admin" } });
    expect(model.calls.map(({ prompt, temperature }) => [prompt[0]?.content, temperature])).toEqual([
      ["Help. user", 0.5],
      ["Help. admin", 0.5],
    ]);
    const wrong = agent.generate({ prompt: "hi", options: Object({ role: "guest" }) });
    await expect(wrong).rejects.toThrow("The agent's callOptions failed");
  });

  test("a ToolLoopAgent is served with its calls recorded", async () => {
    const look = tool({ inputSchema, execute: () => done.push("look") });
    const model = stepwise({ toolCalls: [{ toolName: "look" }] }, "Seen.");
    const workflow = flow().andAgent({
      ...{ id: "ask", prompt: "p" },
      agent: new ToolLoopAgent({ id: "theirs", model, tools: { look } }),
    });
    const andante = bench.andante(workflow);
    const { executionId } = await andante.execute(workflow.id, {});
    const events = await andante.events(workflow.id, executionId);
    const calls = events.flatMap((event) => (event.type === "checkpoint-complete" ? [event.call] : []));
    expect(calls).toMatchObject([{ kind: "model" }, { kind: "tool", toolName: "look" }, { kind: "model" }]);
  });

  test("a start warns of each agent whose calls cannot be recorded, with the change that has them recorded", async () => {
    const model = stepwise("Hello.");
    class Changed extends ToolLoopAgent {}
    const logger = new RecordingLogger();
    const andante = bench.andanteWith({
      agents: {
        ours: new Agent({ id: "ours", model }),
        plain: new ToolLoopAgent({ model }),
        changed: new Changed({ model }),
        internal: new ToolLoopAgent({ model, _internal: {} }),
      },
      logger,
    });
    await andante.ready();
    expect(logger.of("warn")).toMatchObject(
      ["changed", "internal"].map((agentId) => ({
        agentId,
        msg: expect.stringMatching(/asked again as a whole.*new Agent\(\{ id, … \}\)/),
      })),
    );
  });

  test("an approval that the AI SDK signs is decided in a conversation", async () => {
    const look = tool({ inputSchema, execute: () => void done.push("look") });
    const agent = new Agent({
      ...{ id: "a", model: stepwise({ toolCalls: [{ toolName: "look" }] }, "Seen."), tools: { look } },
      ...{ toolApproval: { look: "user-approval" }, experimental_toolApprovalSecret: "secret" },
    });
    const { agents, conversations } = bench.andanteWith({ agents: { agent } });
    const conversationId = "signed";
    await agents.text("a", "hi", { conversationId });
    const last = async () => (await conversations.messages(conversationId)).messages.at(-1)?.parts ?? [];
    const [approvalId = ""] = (await last()).flatMap((part) =>
      "approval" in part && part.approval !== undefined ? [part.approval.id] : [],
    );
    expect(await agents.decide(conversationId, { approvalId, approved: true })).toEqual({ waiting: 0 });
    await expect.poll(async () => (await last()).at(-1)).toMatchObject({ type: "text", text: "Seen." });
    expect(done).toEqual(["look"]);
  });

  test("stopWhen replaces the default number of steps, and a refused option is named with its reason", async () => {
    const look = tool({ inputSchema, execute: () => "seen" });
    const model = scriptedModel(Array.from({ length: 30 }, () => ({ toolCalls: [{ toolName: "look" }] })));
    const stopWhen = ({ steps }: { steps: readonly unknown[] }) => steps.length === 25;
    const { steps } = await new Agent({ id: "a", model, tools: { look }, stopWhen }).generate({
      prompt: "hi",
    });
    expect(steps).toHaveLength(25);
    expect(() => new Agent({ id: "a", model, ...Object({ _internal: {} }) })).toThrow(
      "Agent \"a\": the AI SDK's option _internal is not supported: it is for the AI SDK's own tests",
    );
    expect(() => new Agent({ id: "a", model, ...Object({ onStart: 1 }) })).toThrow(
      "onStart must be a function",
    );
  });
});
