// The examples of the AI SDK's own agent in the documentation inside the installed package: each one runs with `Agent` in
// place of `ToolLoopAgent`, and ends the same with a crash at each write.
import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { anthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import * as otel from "@ai-sdk/otel";
import * as ai from "ai";
import * as aiTest from "ai/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as zod from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import { exampleValue } from "../../src/schema-example/example-value.ts";
import { crashTest } from "../../src/test-kit/crash-test.ts";
import { type ScriptedTurn, scriptedModel } from "../../src/test-kit/scripted-model.ts";
import { propertyOf } from "../../src/values/fields.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";

const docs = join(import.meta.dirname, "../../../../node_modules/ai/docs");

interface Example {
  /** The page, and the number of the example on it. */
  readonly name: string;
  readonly code: string;
}

function examples(): Example[] {
  return globSync("**/*.mdx", { cwd: docs })
    .sort()
    .flatMap((page) => {
      const text = readFileSync(join(docs, page), "utf8");
      const blocks = Array.from(
        text.matchAll(/^( *)```tsx?\b[^\n]*\n(.*?)^\1```/gms),
        ([, , code = ""]) => code,
      );
      return blocks
        .filter((code) => code.includes("new ToolLoopAgent"))
        .map((code, index) => ({ name: `${page.replace(/^.*?\/(?=[^/]+$)/, "")} ${index + 1}`, code }));
    });
}

/** Asks for each tool once, in order, then replies; with an object where the reply must be one. */
const endless = () => scriptedModel(Array.from({ length: 5000 }, () => reply));

function reply({ prompt, tools = [], responseFormat, toolChoice = { type: "auto" } }: Call): ScriptedTurn {
  const asked = new Set(JSON.stringify(prompt).match(/(?<="toolName":")[^"]+/g) ?? []);
  const own = tools.filter((tool) => tool.type === "function");
  const required = {
    ...{ auto: undefined, none: undefined, required: own[0] },
    tool: own.find(({ name }) => toolChoice.type === "tool" && name === toolChoice.toolName),
  };
  const next = required.tool ?? own.find(({ name }) => !asked.has(name)) ?? required[toolChoice.type];
  if (next !== undefined)
    return { toolCalls: [{ toolName: next.name, input: exampleValue(next.inputSchema).value }] };
  if (responseFormat?.type === "json") return { object: exampleValue(responseFormat.schema ?? {}).value };
  return `ANSWER: called ${[...asked].join(", ") || "nothing"}`;
}

type Call = Parameters<ReturnType<typeof scriptedModel>["doStream"]>[0];

const place = { location: { type: "string" } } as const;

/** A function or a tool that the example says is defined elsewhere. */
const elsewhere = Object.assign(async () => "done", {
  ...{ description: "Does it", inputSchema: ai.jsonSchema({ type: "object", properties: place }) },
  execute: async () => "done",
});
const sandbox = { description: "A sandbox", run: async () => ({ stdout: "ok", stderr: "", exitCode: 0 }) };
const tools = `weatherTool calculatorTool attractionsTool searchTool analyzeTool summarizeTool readFileTool
  readDatabaseTool writeDatabaseTool checkOrderStatus lookupPolicy createTicket webSearch analyzeDocument extractQuotes
  runCommand deleteFile runQuery readFile searchTickets lookupCustomer processPayment summarizeToolResult trackUsage
  weather`.split(/\s+/);
const standIns: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(tools.map((name) => [name, elsewhere])),
  ...{
    experimental_sandbox: sandbox,
    defaultSandbox: sandbox,
    setupSandbox: sandbox,
    yourTools: { elsewhere },
  },
  ...{ event: { name: "comment", eventId: "e", data: {} }, subscription: { id: "s" } },
  ...{ messages: [{ role: "user", content: "Hello" }], yourCustomCondition: () => () => false },
  vectorSearch: async () => [{ content: "a document" }],
  process: { env: new Proxy({}, { get: () => "secret" }), stdout: { write: () => true } },
  console: { log: () => undefined },
};
const modules: Readonly<Record<string, object>> = {
  ...{ ai, "ai/test": aiTest, zod, "@ai-sdk/otel": otel, "./tools": standIns },
  // User interfaces: the agent of the example is run without them.
  "@ai-sdk/react": { useChat: () => ({}) },
  "@ai-sdk/tui": { runAgentTUI: () => undefined },
  vitest: { expect, it: (_: string, run: () => unknown) => run() },
};

interface Made {
  readonly settings: AgentOptions;
  /** The parameters of its first call; undefined when the example does not call it. */
  call: Readonly<Record<string, unknown>> | undefined;
}

/** Runs the code with this class as `ToolLoopAgent`. */
async function run(code: string, ToolLoopAgent: unknown): Promise<void> {
  const model = endless();
  const providers = {
    "@ai-sdk/openai": { openai: Object.assign(() => model, openai) },
    "@ai-sdk/anthropic": { anthropic: Object.assign(() => model, anthropic) },
  };
  const known: Readonly<Record<string, object>> = { ...modules, ...providers };
  const imported: Record<string, unknown> = {};
  const program = code
    .replace(/^__PROVIDER_IMPORT__;$/gm, "")
    .replaceAll("__MODEL__", "yourModel")
    .replace(/^import \{([^}]*)\} from ["']([^"']*)["'].*$/gm, (_, names: string, from: string) => {
      const module = known[from];
      if (module === undefined) throw new Error(`it needs ${from}`);
      for (const name of names.split(",").map((each) => each.trim()))
        imported[name] = propertyOf(module, name);
      return "";
    })
    // A page of React: its agent is run alone.
    .replace(/^export default function.*/ms, "")
    .replace(/^export (?=async function|const|type)/gm, "");
  // A fragment leaves out the imports of the page.
  const usual = {
    tool: ai.tool,
    z: zod.z,
    openai: providers["@ai-sdk/openai"].openai,
    runAgentTUI: () => {},
  };
  const scope = { ...standIns, ...usual, yourModel: model, model, ...imported, ToolLoopAgent };
  const body = `with (scope) { return (async () => { ${stripTypeScriptTypes(program)}\n })(); }`;
  await new Function("scope", body)(scope);
}

/** Runs the example with `Agent`, and returns the agents that it made. */
async function runWithAgent({ code }: Example): Promise<readonly Made[]> {
  const made: Made[] = [];
  class WithId extends Agent {
    readonly #made: Made;
    constructor(settings: AgentOptions) {
      super({ ...settings, id: `example-${made.length + 1}` });
      this.#made = { settings, call: undefined };
      made.push(this.#made);
    }
    override generate(call: Parameters<Agent["generate"]>[0]) {
      this.#made.call ??= { ...call };
      return super.generate(call);
    }
    override stream(call: Parameters<Agent["stream"]>[0]) {
      this.#made.call ??= { ...call };
      return super.stream(call);
    }
  }
  await run(code, WithId);
  return made;
}

/** Why the example is not run; undefined when it ran with both classes. */
async function whyLeftOut(example: Example): Promise<string | undefined> {
  try {
    await run(example.code, ai.ToolLoopAgent);
  } catch (error) {
    return error instanceof SyntaxError ? "it is no program" : String(propertyOf(error, "message"));
  }
  let made: Made | undefined;
  try {
    made = (await runWithAgent(example)).at(-1);
  } catch (error) {
    const { message } = error instanceof Error ? error : new Error(String(error));
    if (message.endsWith("model is not a language model")) return "it has no model";
    throw error;
  }
  if (made === undefined || made.call !== undefined) return undefined;
  try {
    const { prompt, callOptions: options } = await callOf(made);
    const settings: unknown = { ...made.settings, model: endless() };
    await new ai.ToolLoopAgent(settings as ConstructorParameters<typeof ai.ToolLoopAgent>[0]).generate({
      ...{ prompt: prompt as string, options: options as never },
    });
    return undefined;
  } catch (error) {
    return String(propertyOf(error, "message"));
  }
}

/** The prompt and the call options of the example, or examples of them. */
async function callOf({ settings, call = {} }: Made) {
  const { prompt = call.messages ?? "Hello", options, experimental_sandbox } = call;
  const { callOptionsSchema, prepareCall } = settings;
  const schema = callOptionsSchema && (await ai.asSchema(callOptionsSchema).jsonSchema);
  const callOptions: unknown = options ?? (schema ? exampleValue(schema).value : prepareCall && {});
  return { prompt, callOptions, experimental_sandbox };
}

beforeAll(() => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = ai.customProvider({
    fallbackProvider: { ...ai.customProvider({}), languageModel: () => endless() },
  });
});
afterAll(() => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = undefined;
});

const all = examples();
const leftOut = new Map<string, string>([
  [
    "02-building-agents.mdx 9",
    "Model response did not contain a tool call even though tool choice was required.",
  ],
  ["02-building-agents.mdx 18", "it has no model"],
  ["06-memory.mdx 2", "it needs @letta-ai/vercel-ai-sdk-provider"],
  ["06-memory.mdx 3", "it needs @letta-ai/vercel-ai-sdk-provider"],
  ["06-memory.mdx 4", "it needs @mem0/vercel-ai-provider"],
  ["06-memory.mdx 5", "it needs @supermemory/tools/ai-sdk"],
  ["06-memory.mdx 6", "it needs @vectorize-io/hindsight-client"],
  ["06-memory.mdx 7", "it needs @mongodb-developer/vercel-ai-memory"],
  ["06-memory.mdx 8", "it needs @redis/vercel-ai-sdk"],
  ["06-subagents.mdx 3", "it has no model"],
  ["09-chat-platforms.mdx 1", "it needs chat"],
  ["09-chat-platforms.mdx 2", "it needs chat/ai"],
  ["15-agent.mdx 1", "it is no program"],
  // These two fail with the AI SDK's own class, too.
  [
    "16-tool-loop-agent.mdx 5",
    "Cannot read properties of undefined (reading 'Symbol(Symbol.asyncIterator)')",
  ],
  ["16-tool-loop-agent.mdx 6", "outputSpecification.parseCompleteOutput is not a function"],
  ["21-transport.mdx 2", "it needs chat"],
]);

test("the examples that are left out, each with its reason", async () => {
  const found: Record<string, string> = {};
  for (const example of all) {
    const why = await whyLeftOut(example);
    if (why !== undefined) found[example.name] = why;
  }
  expect(found).toEqual(Object.fromEntries(leftOut));
});

test.each(all.filter(({ name }) => !leftOut.has(name)))(
  "$name ends the same with a crash at each write",
  async (example) => {
    const made = (await runWithAgent(example)).at(-1);
    if (made === undefined) throw new Error("it makes no agent");
    const { prompt, callOptions, experimental_sandbox } = await callOf(made);
    // Few steps: a model that must call a tool never ends by itself.
    const own = { id: "example", model: endless(), maxSteps: 6, experimental_sandbox };
    const agent = new Agent({ ...made.settings, ...own });
    const workflow = createWorkflow({ id: "run", input: zod.z.object({}) }).andAgent({
      ...{ id: "ask", agent, allowIncomplete: true, prompt: () => prompt as string },
      ...(callOptions !== undefined && { callOptions: Object(callOptions) }),
    });
    const resume = ({ reason }: { reason: string }) =>
      reason.includes("waits for its output") ? "done" : { approved: true };
    const { expected, runs, differences } = await crashTest({ workflow, input: {}, timeout: 30_000, resume });
    expect(expected).toMatchObject({ status: "completed", error: null });
    expect(runs.length).toBeGreaterThan(1);
    expect(differences).toEqual([]);
  },
);
