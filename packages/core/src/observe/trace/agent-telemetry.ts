// The AI SDK's `telemetry` option for one call of an agent: spans, token counts, and log lines of its tools.
import type { Telemetry, TelemetryOptions } from "ai";
import { propertyOf } from "../../values/fields.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import type { Logger } from "../log/logger.ts";
import { recordModelCall } from "./gen-ai-metrics.ts";

export interface AgentTelemetryParts {
  readonly agentId: string;
  /** Makes spans; undefined where none are made. */
  readonly spans: { readonly integration: Telemetry; readonly content: boolean } | undefined;
  readonly logger: Logger;
  /** Counts the usage of a model call. */
  tokens(model: string, usage: { readonly input: number; readonly output: number }): void;
}

/** Pass it as `telemetry` to `generateText`, `streamText`, `agent.generate` or `agent.stream`. */
export function agentTelemetry(parts: AgentTelemetryParts): TelemetryOptions {
  const { agentId, spans } = parts;
  const content = spans?.content ?? false;
  // Given integrations take the place of those that the host has registered with the AI SDK: they are named again.
  const registered = globalThis.AI_SDK_TELEMETRY_INTEGRATIONS ?? [];
  const own = spans === undefined ? [reports(parts)] : [spans.integration, reports(parts)];
  return {
    functionId: agentId,
    recordInputs: content,
    recordOutputs: content,
    integrations: [...own, ...registered],
  };
}

function reports({ agentId, logger, tokens }: AgentTelemetryParts): Telemetry {
  const line = logger.child({ agentId });
  /** The model of the request; the provider may reply with the name of a version of it. */
  let requestModel: string | undefined;
  return {
    onLanguageModelCallStart({ modelId }) {
      requestModel = modelId;
    },
    async executeLanguageModelCall({ provider = "", modelId = "", execute }) {
      const start = performance.now();
      try {
        return await execute();
      } catch (error) {
        const seconds = (performance.now() - start) / 1000;
        recordModelCall({ provider, requestModel: modelId, seconds, errorType: errorType(error) });
        throw error;
      }
    },
    onLanguageModelCallEnd({ provider, modelId, usage, finishReason, performance: { responseTimeMs } }) {
      const { inputTokens: input = 0, outputTokens: output = 0 } = usage;
      tokens(modelId, { input, output });
      recordModelCall({
        provider,
        requestModel: requestModel ?? modelId,
        responseModel: modelId,
        seconds: responseTimeMs / 1000,
        tokens: { input: usage.inputTokens, output: usage.outputTokens },
      });
      line.debug(
        { model: modelId, inputTokens: input, outputTokens: output, finishReason },
        "the model replied",
      );
    },
    // Around the tool itself: its error is content to the other callbacks, and left out where content is.
    async executeTool({ toolCall, toolCallId, execute }) {
      const toolName = toolCall?.toolName;
      try {
        const output = await execute();
        line.debug({ toolName, toolCallId }, "the tool returned");
        return output;
      } catch (err) {
        // A call that waits for a person, or is made again later, has no outcome yet.
        if (err instanceof LoopLeftError) line.debug({ toolName, toolCallId }, "the tool call was left");
        else line.warn({ toolName, toolCallId, err }, "the tool failed");
        throw err;
      }
    },
  };
}

/** A status code, else the class: never the message, which may hold anything. */
function errorType(error: unknown): string {
  const status = propertyOf(error, "statusCode");
  if (typeof status === "number") return String(status);
  return error instanceof Error ? error.name : "_OTHER";
}
