// The AI SDK's own way to OpenTelemetry, `@ai-sdk/otel`: loaded where the host has installed it.
//
// It is not a dependency, because each version of it pins one version of `ai`, which may not be the host's.
import type { Tracer } from "@opentelemetry/api";
import type { Telemetry } from "ai";

/** Makes the spans that the AI SDK reports of a call; the tracer begins them. */
export type MakeIntegration = (tracer: Tracer) => Telemetry;

/** Undefined where the package is not installed. */
export async function loadIntegration(): Promise<MakeIntegration | undefined> {
  try {
    const { OpenTelemetry } = await import("@ai-sdk/otel");
    return (tracer) => new OpenTelemetry({ tracer, agentSpanName: "functionId" });
  } catch (error) {
    if (isNotInstalled(error)) return undefined;
    throw error;
  }
}

/** False when a dependency of the package is missing. */
function isNotInstalled(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes("'@ai-sdk/otel'");
}
