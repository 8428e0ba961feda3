// Serves the agent and the workflow over HTTP, with the console.
import { jwtAuth, serve } from "@andante/server";
import { publish } from "./publish.ts";
import { writer } from "./writer.ts";

const secret = process.env.JWT_SECRET;
// Without a secret everyone who reaches the port may call everything; with one every route and socket needs a token.
const auth = secret && {
  auth: jwtAuth({
    secret,
    defaultPrivate: true,
    publicRoutes: ["GET /health", "GET /ready", "GET /console*"],
    webSocket: "protect",
  }),
};

const server = await serve({
  ...auth,
  agents: { writer },
  workflows: { publish },
  // Executions that ended longer ago are deleted; without it everything is kept.
  retention: { maxAge: "90d" },
});
console.log(`Console: ${server.url}/console`);
