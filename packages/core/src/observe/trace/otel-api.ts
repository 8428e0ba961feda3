// OpenTelemetry's API, loaded with its first use: its forty files take 27 ms of processor time of a start of 360 ms, and
// most hosts register nothing with it.
import { createRequire } from "node:module";

type OpenTelemetryApi = typeof import("@opentelemetry/api");

const load = createRequire(import.meta.url);
let api: OpenTelemetryApi | undefined;

export function otelApi(): OpenTelemetryApi {
  // Kept here: `require` looks the file up again each time, which was a quarter of the processor time of a short reply.
  const known: OpenTelemetryApi = api ?? load("@opentelemetry/api");
  api = known;
  return known;
}

/** The global key under which every copy of the API, of any version 1, keeps the registrations of the host. */
const registered = Symbol.for("opentelemetry.js.api.1");

// Not Reflect.get, which takes five times as long.
const anyGlobal: Readonly<Record<symbol, unknown>> = globalThis;

/** Whether the host has registered such a component. Called before each body runs, so it does not load the API. */
export function isRegistered(component: "context" | "trace" | "metrics"): boolean {
  const registry = anyGlobal[registered];
  return typeof registry === "object" && registry !== null && component in registry;
}

/** The version of the GenAI conventions that names of spans, attributes and metrics follow. */
export const genAiSchema = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev";

/** The numbers that the API gives its names. */
export const spanKind = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const;
export const statusCode = { unset: 0, ok: 1, error: 2 } as const;
export const traceFlags = { none: 0, sampled: 1 } as const;
