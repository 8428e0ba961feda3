// The quickstart: a server with two workflows on a SQLite file.
import { fileURLToPath } from "node:url";
import { sqliteStore } from "@andante/core";
import { exampleCall, serve } from "@andante/server";
import { chooseModel } from "./model.ts";
import { measure, publishWith } from "./workflows.ts";

const { model, label } = chooseModel(process.env);
const path = process.env.ANDANTE_DB ?? fileURLToPath(new URL("../andante.db", import.meta.url));

const server = await serve({
  workflows: { measure, publish: publishWith(model) },
  store: sqliteStore({ path }),
});

console.log(`\nAndante is ready at ${server.url}`);
console.log(`Model: ${label}`);
console.log(`Database: ${path}\n`);
for (const { id, purpose } of server.andante.workflows()) {
  console.log(`${id}: ${purpose}\n  ${exampleCall(server.url, server.andante.workflow(id))}\n`);
}
