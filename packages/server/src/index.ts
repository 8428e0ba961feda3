// The public surface of @andante/server.
export { type App, createApp } from "./app.ts";
export type { AppLimits, AppOptions, CustomApp } from "./app-options.ts";
export type { AuthorizationRequest, Authorize } from "./auth/authorize.ts";
export { type CreateJwtOptions, createJWT, type JwtAuthOptions, jwtAuth } from "./auth/jwt.ts";
export type { AuthProvider, User } from "./auth/provider.ts";
export type { CorsOptions } from "./cors/cors.ts";
export * from "./errors/auth-errors.ts";
export * from "./errors/request-errors.ts";
export type { McpOptions } from "./mcp/mcp-options.ts";
export type { ReceivedWebhook, Receiver } from "./receivers/receiver.ts";
export {
  githubSignature,
  slackSignature,
  standardSignature,
  stripeSignature,
  type Verifier,
} from "./receivers/verifiers.ts";
export { type RunningServer, type ServeOptions, serve } from "./serve.ts";
