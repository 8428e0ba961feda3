// Every error that can reach a caller or the host. Nothing outside this folder makes another kind.
export * from "./agent-errors.ts";
export * from "./andante-error.ts";
export * from "./definition-errors.ts";
export * from "./endpoint-errors.ts";
export * from "./event-errors.ts";
export * from "./execution-errors.ts";
export * from "./link-errors.ts";
export * from "./schedule-errors.ts";
export * from "./service-errors.ts";
export * from "./step-errors.ts";
