// A server with tools, in a process of its own. Arguments: the file of its database or the URL of PostgreSQL, the address of
// another one, its port, and `editor` where the user of this name alone may resume.
import { createLogger, sqliteStore } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { serve } from "@andante/server";
import { provider, tokenFor } from "../support/tokens.ts";
import { callerOf } from "./caller.ts";
import { publish } from "./publish.ts";

const [, , place = "", other = "", port = "0", editor] = process.argv;
const token = await tokenFor("ada");

const { url } = await serve({
  workflows: { publish },
  // The address of another server, whose tools an agent calls.
  agents: other === "" ? {} : { caller: callerOf(other, () => token) },
  mcp: { expose: ["publish"], wait: 0 },
  ...(editor !== undefined && {
    auth: provider(),
    authorize: ({ action, userId }) => action !== "executions.resume" || userId === editor,
  }),
  store: place.startsWith("postgres")
    ? postgresStore({ url: place, schema: "mcp", lease: 3000 })
    : sqliteStore({ path: place }),
  port: Number(port),
  logger: createLogger({ level: "silent" }),
});
process.stdout.write(`${url}\n`);
