// Any agent that a host can pass: ours, and every object with the AI SDK's `Agent` interface.
import type { Agent as AiAgent, Output, ToolSet } from "ai";

/** The values that the AI SDK passes from a call to its callbacks. */
export type Context = Record<string, unknown>;

/** A reply of any shape. */
export type AnyOutput = Output.Output<unknown, unknown, unknown>;

export type AnyAgent = AiAgent<never, ToolSet, Context, AnyOutput>;
