// Agents of steps that read the conversation of their execution: the messages before the prompt, the same after a crash.
import { tool } from "ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import { workflowTool } from "../../src/agent/call/workflow-tool.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import type { Store } from "../../src/store/store.ts";
import { type Crash, crashingStore } from "../../src/test-kit/crashing-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { controlledModel, type ScriptedModel } from "../support/controlled-model.ts";
import { all, kept, openStore, userMessage } from "./processes.ts";

const talk = { conversationId: "talk", userId: "ada" };

interface ProcessOptions {
  readonly crash?: Crash;
  readonly agent?: Partial<AgentOptions>;
}

/** A chat that calls a workflow for "publish", and the workflow, whose agent looks something up before it replies. */
function start(store: Store, { crash, agent }: ProcessOptions = {}) {
  const life = crashingStore(store, crash);
  const judging = controlledModel(({ prompt }) =>
    prompt.at(-1)?.role === "tool" ? { text: ["Good."] } : { calls: [{ name: "look", input: {} }] },
  );
  const look = tool({ inputSchema: z.object({}), execute: () => "seen" });
  const judge = new Agent({ id: "judge", model: judging, tools: { look }, ...agent });
  const publish = createWorkflow({ id: "publish", input: z.object({}) }).andAgent({
    ...{ id: "ask", agent: judge, prompt: "Is it polite?", conversation: "read" },
  });
  const model = controlledModel(({ prompt }) => {
    const asks = prompt.at(-1)?.role === "user" && texts(prompt).at(-1)?.includes("publish");
    if (asks) return { text: ["I publish."], calls: [{ name: "publish", input: {} }] };
    return { text: ["Hello."] };
  });
  const clerk = new Agent({ id: "clerk", model, tools: { publish: workflowTool(publish) } });
  const logger = new RecordingLogger();
  const andante = createAndante({ agents: { clerk }, workflows: { publish }, store: life.store, logger });
  const end = async () => {
    await andante.close({ grace: 0 });
    await life.bury();
  };
  onTestFinished(end);
  const say = async (text: string, where = talk) =>
    all(await andante.agents.chat("clerk", [userMessage(`${text} ${where.userId}`, text)], where));
  return { andante, judging, life, logger, say, end };
}

type Prompt = ScriptedModel["asked"][number]["prompt"];

/** The texts of the messages that are not system messages. */
function texts(prompt: Prompt): string[] {
  return prompt.flatMap(({ role, content }) =>
    role === "user" || role === "assistant"
      ? content.map((part) => (part.type === "text" ? part.text : part.type))
      : [],
  );
}
const asked = (judging: ScriptedModel) => judging.asked.map(({ prompt }) => texts(prompt));

test("the agent sees the messages before its prompt, as its memory shows them, and adds none", async () => {
  const { andante, judging, say } = start(await openStore(), { agent: { memory: { window: 2 } } });
  await say("You fool");
  await say("Sorry");
  const { result } = await andante.execute("publish", {}, talk);
  expect(result).toEqual({ text: "Good." });
  expect(asked(judging)).toEqual([
    ["Sorry", "Hello.", "Is it polite?"],
    ["Sorry", "Hello.", "Is it polite?", "tool-call"],
  ]);
  expect(await kept(andante)).toHaveLength(4);
});

test("as a tool of the chat it sees the message that is replied to, without the call that waits for it", async () => {
  const { andante, judging, say } = start(await openStore());
  await say("Hi");
  await say("Please publish");
  await expect.poll(async () => (await kept(andante)).at(-1)?.[1]).toBe("I publish.Hello.");
  const [first] = asked(judging);
  expect(first?.slice(0, 3)).toEqual(["Hi", "Hello.", "Please publish"]);
  expect(first?.at(-1)).toBe("Is it polite?");
  expect(first).not.toContain("tool-call");
});

describe("it sees nothing", () => {
  test.each<[string, object, Partial<AgentOptions>]>([
    ["of another user's conversation", { ...talk, userId: "eve" }, {}],
    ["of a conversation that has not begun", { ...talk, conversationId: "other" }, {}],
    ["without a conversation", { userId: "ada" }, {}],
    ["with an agent that keeps none", talk, { memory: false }],
  ])("%s", async (_, where, agent) => {
    const { andante, judging, say } = start(await openStore(), { agent });
    await say("You fool");
    await andante.execute("publish", {}, where);
    expect(asked(judging)[0]).toEqual(["Is it polite?"]);
  });
});

test("after a crash at any write it sees the messages that it saw before, not those that came since", async () => {
  for (let write = 1; ; write++) {
    for (const variant of ["lost", "unacknowledged"] as const) {
      const store = await openStore();
      const before = start(store);
      await before.say("Hi");
      await before.end();
      const options = { ...talk, executionId: "run" };
      const first = start(store, { crash: { write, variant } });
      const life = first.andante.execute("publish", {}, options);
      life.catch(() => undefined);
      await Promise.race([life, first.life.crash]);
      const { crashed } = first.life;
      const began = first.judging.asked.length > 0;
      await first.end();
      const next = start(store);
      if (!began) await next.andante.ready();
      await next.say("And now?");
      expect(await next.andante.execute("publish", {}, options)).toMatchObject({ result: { text: "Good." } });
      // Where no call was made before the crash, the message may have come before the first one.
      const seen = [...asked(first.judging), ...(began ? asked(next.judging) : [])];
      for (const each of seen)
        expect(each.slice(0, 3), `${variant} ${write}`).toEqual(["Hi", "Hello.", "Is it polite?"]);
      expect(next.logger.messages.filter((line) => line.includes("prompt"))).toEqual([]);
      await next.end();
      if (!crashed) return;
    }
  }
}, 120_000);

test("options that could never work are refused", () => {
  const step = (options: object) =>
    createWorkflow({ id: "w", input: z.object({}) }).andAgent({ id: "ask", prompt: "p", ...Object(options) });
  const agent = { generate: async () => ({ text: "hi" }) };
  expect(() => step({ agent, conversation: "keep" })).toThrow('conversation must be "read"');
  expect(() => step({ agent, conversation: "read" })).toThrow("only an agent of the AI SDK can read");
});
