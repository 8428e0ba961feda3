// Telemetry of new calls: recorded calls were reported when they happened.
import type { Telemetry, TelemetryOptions } from "ai";
import { propertyOf } from "../../values/fields.ts";
import type { DurableLoop } from "./durable-loop.ts";

/** The same telemetry without the calls that the loop reads from its record, if it has one. */
export function liveTelemetry(telemetry: TelemetryOptions, loop: DurableLoop): TelemetryOptions {
  if (loop.recorder.isEmpty) return telemetry;
  const { integrations = [] } = telemetry;
  return { ...telemetry, integrations: [integrations].flat().map((each) => liveIntegration(each, loop)) };
}

function liveIntegration(integration: Telemetry, loop: DurableLoop): Telemetry {
  /** The step that is under way is only walked. */
  let walksStep = false;
  const isWalked: Record<string, (event: unknown) => boolean> = {
    onStepStart: () => (walksStep = loop.nextIsRecorded),
    onLanguageModelCallStart: () => loop.nextCallIsRecorded,
    executeLanguageModelCall: () => loop.nextCallIsRecorded,
    onLanguageModelCallEnd: () => loop.isWalked(loop.calls - 1),
    onToolExecutionStart: (event) => walksTool(event, loop),
    executeTool: (event) => walksTool(event, loop),
    onToolExecutionEnd: (event) => walksTool(event, loop),
    onStepEnd: () => walksStep,
    onStepFinish: () => walksStep,
  };
  return new Proxy(integration, {
    get(target, name) {
      const member = propertyOf(target, name);
      if (typeof member !== "function") return member;
      const walked = typeof name === "string" && Object.hasOwn(isWalked, name) ? isWalked[name] : undefined;
      if (walked === undefined) return member.bind(target);
      return (event: unknown) => {
        if (!walked(event)) return member.call(target, event);
        const execute = propertyOf(event, "execute");
        return typeof execute === "function" ? execute.call(event) : undefined;
      };
    },
  });
}

function walksTool(event: unknown, loop: DurableLoop): boolean {
  const toolCall = propertyOf(event, "toolCall");
  const id = propertyOf(event, "toolCallId") ?? propertyOf(toolCall, "toolCallId");
  return typeof id === "string" && loop.toolCall(id, String(propertyOf(toolCall, "toolName"))).isWalked;
}
