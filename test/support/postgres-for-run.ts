// One PostgreSQL server for a whole run of tests, started before the first file and removed after the last.
import { startPostgres } from "../../packages/postgres/test/postgres-server.ts";
import { shareDatabase } from "./shared-database.ts";

export default async function setup(): Promise<() => Promise<void>> {
  // A file may keep many servers open at once, each with some connections.
  const server = await startPostgres({ max_connections: 300 });
  shareDatabase(server.url);
  return () => server.remove();
}
