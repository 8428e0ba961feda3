// The quickstart: a server with two agents and two workflows on a SQLite file.
import { fileURLToPath } from "node:url";
import { sqliteStore } from "@andante/core";
import { jwtAuth, serve } from "@andante/server";
import { exampleCalls, exampleQuestion } from "@andante/server/examples";
import { agentsWith } from "./agents.ts";
import { chooseModel } from "./model.ts";
import { measure, publishWith } from "./workflows.ts";

const { model, label } = chooseModel(process.env);
const agents = agentsWith(model);
const path = process.env.ANDANTE_DB ?? fileURLToPath(new URL("../andante.db", import.meta.url));

const secret = process.env.JWT_SECRET;
// Without a secret everyone on this machine may call everything; set one for production.
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
  agents,
  workflows: { measure, publish: publishWith(agents.writer) },
  store: sqliteStore({ path }),
});

console.log(`\nAndante is ready at ${server.url}`);
console.log(`Console: ${server.url}/console`);
console.log(`Model: ${label}`);
console.log(`Database: ${path}`);
console.log(`Authentication: ${auth ? "calls need a token" : "none; set JWT_SECRET to ask for tokens"}\n`);
for (const agent of await server.andante.agents.list()) {
  console.log(`${agent.id}: ${agent.purpose}\n  ${exampleQuestion(server.url, agent)}\n`);
}
for (const { id, purpose } of server.andante.workflows()) {
  const calls = exampleCalls(server.url, server.andante.workflow(id));
  console.log(`${id}: ${purpose}\n  ${calls.join("\n  ")}\n`);
}
