// Any agent that a host can pass: ours, and every object with the AI SDK's `Agent` interface.
import type { Agent as AiAgent, Output, ToolSet } from "ai";

/** What the AI SDK passes from call to callbacks. */
export type Context = Record<string, unknown>;

/** Whatever shape a reply has. */
export type AnyOutput = Output.Output<unknown, unknown, unknown>;

export type AnyAgent = AiAgent<never, ToolSet, Context, AnyOutput>;
