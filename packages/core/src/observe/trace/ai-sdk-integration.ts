// The AI SDK's own way to OpenTelemetry, `@ai-sdk/otel`: loaded where the host has installed it.
//
// It is not a dependency, because each version of it pins one version of `ai`, which may not be the host's.
import type { Tracer } from "@opentelemetry/api";
import type { Telemetry } from "ai";
import { ifInstalled } from "./if-installed.ts";

/** Makes the spans that the AI SDK reports of a call; the tracer begins them. */
export type MakeIntegration = (tracer: Tracer) => Telemetry;

/** Undefined where the package is not installed. */
export async function loadIntegration(): Promise<MakeIntegration | undefined> {
  const found = await ifInstalled("@ai-sdk/otel", () => import("@ai-sdk/otel"));
  if (found === undefined) return undefined;
  return (tracer) => new found.OpenTelemetry({ tracer, agentSpanName: "functionId" });
}
