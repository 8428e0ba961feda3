// Calls an agent's model with the AI SDK. Loaded by the first call: the AI SDK is a third of a start.
import {
  type AgentStreamParameters,
  type FinishReason,
  generateText,
  type StreamTextTransform,
  streamText,
  type ToolSet,
} from "ai";
import type { AgentOptions } from "./agent-options.ts";
import type { AnyOutput, Context } from "./any-agent.ts";
import type { AgentExtraParameters, AgentParameters, CalledAgent } from "./call-arguments.ts";
import type { AgentRequest, AgentResult, AgentStreamResult } from "./callable-agent.ts";
import { prepareCall } from "./prepare-call.ts";
import { TextBypass } from "./text-bypass.ts";

/** The agent that is called, and its definition. */
export interface Called {
  readonly agent: CalledAgent;
  readonly options: AgentOptions;
}

export type AgentStreamCall<CallOptions = unknown> = Omit<AgentStreamParameters<never, ToolSet>, "options"> &
  AgentExtraParameters<CallOptions>;

export async function generate(called: Called, call: AgentParameters): Promise<AgentResult> {
  const { settings, failed, ended, loop } = await prepareCall(called.agent, called.options, call);
  try {
    const result = await generateText<ToolSet, Context, AnyOutput>(settings);
    await ended?.(result);
    return result;
  } catch (error) {
    await failed(error);
    throw loop?.left ?? error;
  }
}

export async function stream(
  called: Called,
  call: AgentStreamCall,
  bypass?: TextBypass,
): Promise<AgentStreamResult> {
  const { settings, failed, aborted, ended } = await prepareCall(called.agent, called.options, call);
  const transforms = [
    call.experimental_transform ?? [],
    ended === undefined ? [] : endTransform(ended),
  ].flat();
  return streamText<ToolSet, Context, AnyOutput>({
    ...settings,
    ...bypass?.settings(settings),
    ...(transforms.length > 0 && { experimental_transform: transforms }),
    onError: ({ error }) => failed(error),
    onAbort: async (event) => {
      await aborted(event);
      await failed(settings.abortSignal.reason);
    },
  });
}

/** Streams a reply whose parts have one reader: its text bypasses the AI SDK unless the AI SDK acts on each delta. */
export async function streamParts(
  called: Called,
  call: AgentRequest,
): Promise<Pick<AgentStreamResult, "stream">> {
  const { output, timeout } = called.options;
  const hasChunkTimeout = typeof timeout === "object" && timeout.chunkMs !== undefined;
  if (hasChunkTimeout || (call.output ?? output) !== undefined) return stream(called, call);
  const bypass = new TextBypass();
  return { stream: bypass.join((await stream(called, call, bypass)).stream) };
}

/** Calls `ended` before the last part is passed on, so that a refusal can replace it. Not for a stream that breaks. */
function endTransform(
  ended: (reply: { text: string; finishReason: FinishReason }) => Promise<void>,
): StreamTextTransform<ToolSet> {
  return () => {
    let text = "";
    let failed = false;
    return new TransformStream({
      transform: async (part, controller) => {
        if (part.type === "start-step") text = "";
        else if (part.type === "text-delta") text += part.text;
        else if (part.type === "error" || part.type === "abort") failed = true;
        else if (part.type === "finish" && !failed) {
          try {
            await ended({ text, finishReason: part.finishReason });
          } catch (error) {
            return controller.enqueue({ type: "error", error });
          }
        }
        controller.enqueue(part);
      },
    });
  };
}
