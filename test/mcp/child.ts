// A server with tools, in a process of its own. Arguments: the file of its database or the URL of PostgreSQL, and
// the address of another one.
import { createLogger, sqliteStore } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { serve } from "@andante/server";
import { callerOf } from "./caller.ts";
import { publish } from "./publish.ts";

const [, , place = "", other] = process.argv;

const { url } = await serve({
  workflows: { publish },
  // The address of another server, whose tools an agent calls.
  agents: other === undefined ? {} : { caller: callerOf(other) },
  mcp: { expose: ["publish"], wait: 0 },
  store: place.startsWith("postgres")
    ? postgresStore({ url: place, schema: "mcp", lease: 3000 })
    : sqliteStore({ path: place }),
  port: 0,
  logger: createLogger({ level: "silent" }),
});
process.stdout.write(`${url}\n`);
