// Andante on a SQLite file, for the HTTP benchmark. Arguments: port, database file.
import { createLogger, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { gate, one, three } from "../engine/workflows.ts";

const [port, path = ""] = process.argv.slice(2);
await serve({
  workflows: { one, three, gate },
  store: sqliteStore({ path }),
  port: Number(port),
  logger: createLogger({ level: "error" }),
});
