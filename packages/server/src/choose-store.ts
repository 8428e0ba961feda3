// The store of `serve`: the host's own, else PostgreSQL where ANDANTE_DATABASE_URL says, else a SQLite file.
import { type Logger, type Store, sqliteStore } from "@andante/core";
import { OptionError } from "@andante/core/errors";
import { countOpenExecutions } from "@andante/core/internal";

export interface ChosenStore {
  readonly store: Store;
  /** Says which store it is, and what the host may have overlooked. */
  tell(logger: Logger): Promise<void>;
}

const variable = "ANDANTE_DATABASE_URL";

const nothing = async () => undefined;

export async function chooseStore(given: Store | undefined): Promise<ChosenStore> {
  if (given !== undefined) return { store: given, tell: nothing };
  const path = process.env.ANDANTE_DB ?? "./andante.db";
  const url = process.env[variable];
  if (url === undefined || url === "") return { store: sqliteStore({ path }), tell: nothing };
  const { postgresStore } = await importPostgres();
  const store = openable(() => postgresStore({ url }));
  return {
    store,
    async tell(logger) {
      logger.info({ store: store.location }, `using PostgreSQL, because ${variable} is set`);
      const open = await countOpenExecutions(path);
      const left = `this file holds open executions, which do not run: ${variable} names another store`;
      if (open > 0) logger.warn({ file: path, open }, left);
    },
  };
}

/** Only when it is asked for: a host on SQLite neither installs nor loads it. */
async function importPostgres(): Promise<typeof import("@andante/postgres")> {
  try {
    return await import("@andante/postgres");
  } catch (error) {
    if (!isMissing(error)) throw error;
    const cure = "run `npm install @andante/postgres`, or unset the variable to use a SQLite file";
    throw new OptionError({ option: variable, problem: `@andante/postgres is not installed: ${cure}` });
  }
}

/** Not whether something that it needs itself is missing: that is another fault, with another cure. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes("'@andante/postgres'");
}

/** An address that is wrong is the variable's fault, not an option's that nobody gave. */
function openable(make: () => Store): Store {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new OptionError({
      option: variable,
      problem: "expected postgres://user:password@host:port/database",
    });
  }
}
