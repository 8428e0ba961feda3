// Andante on a SQLite file, for the HTTP benchmark. Arguments: port, database file, and `untraced` or `unsearched` to leave out
// spans or the search in values.
import { createLogger, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { gate, one, three, unsearched } from "../engine/workflows.ts";

const [port, path = "", without] = process.argv.slice(2);
await serve({
  workflows: without === "unsearched" ? unsearched : { one, three, gate },
  store: sqliteStore({ path }),
  port: Number(port),
  logger: createLogger({ level: "error" }),
  ...(without === "untraced" ? { tracing: false } : {}),
});
