// The fields of an agent: the texts and tools that it shows, and the addresses that its model loads by itself.
import type { ToolSet } from "ai";
import { expect, test, vi } from "vitest";
import { controlledModel } from "../../test/support/controlled-model.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./call/agent-options.ts";
import { Operation } from "./call/operation.ts";

const model = () => controlledModel(() => ({ text: ["hello"] }));

test("instructions that are system messages are shown as one text", () => {
  const system = (content: string) => ({ role: "system", content }) as const;
  const shown = (instructions: NonNullable<AgentOptions["instructions"]>) =>
    new Agent({ id: "a", model: model(), instructions }).instructions;
  expect(shown(system("One."))).toBe("One.");
  expect(shown([system("One."), system("Two.")])).toBe("One.\n\nTwo.");
});

test("files are left to the provider where the model says so, and to a gateway", async () => {
  const operation = Operation.from(undefined, undefined);
  const supported = { "image/*": [/^https:/] };
  const urls = (given: AgentOptions["model"]) =>
    new Agent({ id: "a", model: given }).supportedUrls(operation);
  expect(await urls("openai/x")).toEqual({ "*": [/./] });
  expect(await urls({ ...model(), supportedUrls: Promise.resolve(supported) })).toEqual(supported);
  expect(await urls(() => ({ ...model(), supportedUrls: supported }))).toEqual(supported);
  expect(await urls(Object({ ...model(), supportedUrls: undefined }))).toEqual({});
});

test("tools that are made for each call come with the sub-agents, whose names they may not have", async () => {
  const operation = Operation.from(undefined, undefined);
  const helper = new Agent({ id: "helper", model: model() });
  const look = Object({ inputSchema: {} });
  const made = vi.fn(async (): Promise<ToolSet> => ({ look }));
  const agent = new Agent({ id: "a", model: model(), tools: made, subAgents: [helper] });
  expect(Object.keys(agent.tools)).toEqual(["helper"]);
  expect(Object.keys(await agent.toolsFor(operation))).toEqual(["look", "helper"]);
  expect(made.mock.calls).toEqual([[operation]]);
  const fixed = new Agent({ id: "a", model: model(), tools: { look }, subAgents: [helper] });
  expect(await fixed.toolsFor(operation)).toBe(fixed.tools);
  const problem = 'Agent "a": a tool and a sub-agent are both called "helper"';
  made.mockResolvedValueOnce({ helper: look });
  await expect(agent.toolsFor(operation)).rejects.toThrow(problem);
  const clash = { tools: { helper: look }, subAgents: [helper] };
  expect(() => new Agent({ id: "a", model: model(), ...clash })).toThrow(problem);
});

test("only tools that are held open are retained", () => {
  const held = Object.assign(() => ({}), { retain: () => undefined, release: async () => undefined });
  expect(new Agent({ id: "a", model: model(), tools: held }).held).toBe(held);
  expect(new Agent({ id: "a", model: model(), tools: () => ({}) }).held).toBeUndefined();
  expect(new Agent({ id: "a", model: model() }).held).toBeUndefined();
  expect(new Agent({ id: "a", model: model() }).approval).toEqual({ secret: undefined, maxAge: 3_600_000 });
});

test("a host that replaces stream has its own parts", async () => {
  const stream = new ReadableStream();
  const replaced = vi.fn(async () => ({ stream }));
  const agent = new Agent({ id: "a", model: model() });
  Object.assign(agent, { stream: replaced });
  const request = Object({ messages: [] });
  expect(await agent.parts(request)).toEqual({ stream });
  expect(replaced.mock.calls).toEqual([[request]]);
});

test("callers may set only the options of providers that the host allows", () => {
  const agent = new Agent({ id: "a", model: model(), allowProviderOptions: { openai: ["user"] } });
  expect(() => agent.checkSettings({ providerOptions: { openai: { user: "ada" } } })).not.toThrow();
  const other = { providerOptions: { openai: { store: true } } };
  expect(() => agent.checkSettings(other)).toThrow(
    "Invalid option providerOptions.openai.store: agent a does not allow it",
  );
  const plain = new Agent({ id: "b", model: model() });
  expect(() => plain.checkSettings(other)).toThrow("agent b does not allow it");
  expect(() => plain.checkSettings({ topP: 2 })).toThrow("Invalid option topP");
});
