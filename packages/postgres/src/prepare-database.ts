// Opens the database: connects once, checks the server, and brings the schema up to date.
import type { ConnectSettings, Query } from "./connection/client.ts";
import { Connection } from "./connection/connection.ts";
import { SilenceWatch } from "./connection/silence-watch.ts";
import { codeOf, problemOf } from "./connection/trouble.ts";
import { migrate } from "./migrate.ts";
import type { Settings } from "./options.ts";

/** The oldest server that is supported. */
const oldestServer = 14;

/** Milliseconds that a statement of a migration may take. */
const migrationTime = 3_600_000;

/** Explains a failure in words. `schema` is quoted. */
export async function prepareDatabase(
  settings: Settings,
  connect: ConnectSettings,
  schema: string,
  patience: number,
): Promise<void> {
  // A migration walks whole tables, and waits for that of another node: the watch finds a dropped connection long before.
  const watch = new SilenceWatch(connect, patience, migrationTime);
  // Not prepared: statements that run once gain nothing, and a pooler may be in between.
  const connection = new Connection({ ...connect, prepare: false, statementTimeout: migrationTime }, watch);
  try {
    const query = await connection.query();
    await checkServer(query);
    await migrate(query, { name: settings.schema, schema, migrate: settings.migrate });
  } catch (error) {
    const code = codeOf(error);
    if (code === "" && error instanceof Error) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${problemOf(error)} (${message})`, { cause: error });
  } finally {
    watch.close();
    await connection.close();
  }
}

async function checkServer(query: Query): Promise<void> {
  const { rows } = await query(
    "select current_setting('server_version_num')::integer / 10000 as major, current_setting('server_encoding') as encoding",
  );
  const { major, encoding } = rows[0] ?? {};
  if (Number(major) < oldestServer)
    throw new Error(`the server is PostgreSQL ${major}, but ${oldestServer} or later is needed`);
  if (encoding !== "UTF8")
    throw new Error(
      `the database has the encoding ${encoding}, but UTF8 is needed: create it with encoding 'UTF8'`,
    );
}
