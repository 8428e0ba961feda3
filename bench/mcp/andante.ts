// Andante with a tool, for the benchmark of MCP. Arguments: port, database file.
import { createLogger, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { one } from "../engine/workflows.ts";

const [port, path = ""] = process.argv.slice(2);
await serve({
  workflows: { one },
  mcp: { expose: ["one"] },
  store: sqliteStore({ path }),
  port: Number(port),
  logger: createLogger({ level: "error" }),
});
