// Calls an agent's model with the AI SDK. Loaded by the first call: the AI SDK is a third of a start.
import { type AgentStreamParameters, generateText, streamText, type ToolSet } from "ai";
import type { AgentOptions } from "./agent-options.ts";
import type { AnyOutput, Context } from "./any-agent.ts";
import type { AgentResult, AgentStreamResult } from "./callable-agent.ts";
import {
  type AgentExtraParameters,
  type AgentParameters,
  type CalledAgent,
  prepareCall,
} from "./prepare-call.ts";

/** What is called: the agent and its definition. */
export interface Called {
  readonly agent: CalledAgent;
  readonly options: AgentOptions;
}

export type AgentStreamCall = AgentStreamParameters<never, ToolSet> & AgentExtraParameters;

export async function generate(called: Called, call: AgentParameters): Promise<AgentResult> {
  const { settings, failed, loop } = await prepareCall(called.agent, called.options, call);
  try {
    return await generateText<ToolSet, Context, AnyOutput>(settings);
  } catch (error) {
    await failed(error);
    throw loop?.left ?? error;
  }
}

export async function stream(called: Called, call: AgentStreamCall): Promise<AgentStreamResult> {
  const { experimental_transform } = call;
  const { settings, failed } = await prepareCall(called.agent, called.options, call);
  return streamText<ToolSet, Context, AnyOutput>({
    ...settings,
    ...(experimental_transform && { experimental_transform }),
    onError: ({ error }) => failed(error),
    onAbort: () => failed(settings.abortSignal.reason),
  });
}
