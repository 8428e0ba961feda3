// The options of an agent cover every setting of the AI SDK's own agent: a new one in its next release fails here.
import { type Tool, ToolLoopAgent, type ToolLoopAgentSettings, type ToolSet, tool } from "ai";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { Agent } from "../agent.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { AnyOutput, Context } from "./any-agent.ts";
import type { refusedSettings } from "./sdk-settings.ts";

type Settings = ToolLoopAgentSettings<never, ToolSet, Context, AnyOutput>;
type Supported = Extract<keyof Settings, keyof AgentOptions>;
type Refused = keyof typeof refusedSettings;

test("every setting is an option of an agent, or refused with a reason", () => {
  expectTypeOf<Exclude<keyof Settings, keyof AgentOptions | Refused>>().toEqualTypeOf<never>();
});

test("no setting is refused that an agent has, or that the AI SDK does not have", () => {
  expectTypeOf<Extract<Refused, keyof AgentOptions>>().toEqualTypeOf<never>();
  expectTypeOf<Exclude<Refused, keyof Settings>>().toEqualTypeOf<never>();
});

test("the settings of the AI SDK's own agent are the options of an agent with an id", () => {
  // Options of providers are JSON here, without undefined.
  type Plain = Exclude<Supported, "id" | "callOptionsSchema" | "prepareCall" | "providerOptions">;
  const settings = {} as Pick<Settings, Plain> & { readonly id: "a" };
  expectTypeOf(new Agent(settings)).toHaveProperty("generate");
});

test("call options have the type of their schema", () => {
  const callOptionsSchema = z.object({ plan: z.enum(["free", "pro"]) });
  const agent = new Agent({
    id: "support",
    model: "openai/gpt-5",
    callOptionsSchema,
    prepareCall: ({ options, ...settings }) => {
      expectTypeOf(options).toEqualTypeOf<{ plan: "free" | "pro" }>();
      return { ...settings, instructions: `${settings.instructions} ${options.plan}` };
    },
  });
  expectTypeOf(agent.generate).parameter(0).toHaveProperty("options");
  // @ts-expect-error - a plan that does not exist
  void agent.generate({ prompt: "hi", options: { plan: "gold" } });
});

test("a program for the AI SDK's own agent is one for an agent", () => {
  const weather: Tool = tool({ inputSchema: z.object({ city: z.string() }), execute: () => "sunny" });
  const settings = {
    model: "openai/gpt-5",
    tools: { weather },
    onStepEnd: ({ stepNumber, usage }: { stepNumber: number; usage: object }) => void [stepNumber, usage],
  };
  expectTypeOf(new ToolLoopAgent(settings)).toHaveProperty("generate");
  expectTypeOf(new Agent({ id: "weather", ...settings })).toHaveProperty("generate");
});
