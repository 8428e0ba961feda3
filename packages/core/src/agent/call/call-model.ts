// Calls an agent's model with the AI SDK. Loaded by the first call: the AI SDK is a third of a start.
import {
  type AgentStreamParameters,
  type FinishReason,
  generateText,
  type StreamTextTransform,
  streamText,
  type ToolSet,
} from "ai";
import type { DeltaShortcut } from "../durable/delta-shortcut.ts";
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

export type AgentStreamCall = AgentStreamParameters<never, ToolSet> &
  AgentExtraParameters & {
    /** The way of the reply's text past the AI SDK, for Andante's own reader. Default: it goes through the AI SDK. */
    readonly shortcut?: DeltaShortcut | undefined;
  };

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

export async function stream(called: Called, call: AgentStreamCall): Promise<AgentStreamResult> {
  const shortcut = mayTakeShortcut(called.options, call) ? call.shortcut : undefined;
  const { settings, failed, ended } = await prepareCall(called.agent, called.options, call, shortcut);
  const transforms = [call.experimental_transform ?? [], ended === undefined ? [] : tellEnd(ended)].flat();
  const result = streamText<ToolSet, Context, AnyOutput>({
    ...settings,
    ...(transforms.length > 0 && { experimental_transform: transforms }),
    ...(shortcut && { onLanguageModelCallEnd: ({ performance }) => shortcut.correct(performance) }),
    onError: ({ error }) => failed(error),
    onAbort: () => failed(settings.abortSignal.reason),
  });
  shortcut?.leadsPast(result);
  return result;
}

/** Not where the AI SDK, or the caller, does something with each delta. */
function mayTakeShortcut({ output, timeout }: AgentOptions, call: AgentStreamCall): boolean {
  const isAwaited = [timeout, call.timeout].some(
    (each) => typeof each === "object" && each.chunkMs !== undefined,
  );
  const isRead = (call.output ?? output) !== undefined || call.experimental_transform !== undefined;
  return !isAwaited && !isRead;
}

/** Tells of the end before the last part is passed on, so that a refusal can take its place. A broken stream has none. */
function tellEnd(
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
