// The same with OpenTelemetry's hook for ECMAScript modules: its http instrumentation makes the spans of requests.
import { register } from "node:module";

register("@opentelemetry/instrumentation/hook.mjs", import.meta.url);
await import("./otel.mjs");
