// The public surface of @andante/server.
export { type App, type AppLimits, type AppOptions, createApp } from "./app.ts";
export { exampleCall } from "./docs/example-call.ts";
export * from "./errors/request-errors.ts";
export { type RunningServer, type ServeOptions, serve } from "./serve.ts";
