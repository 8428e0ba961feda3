// The store of `serve`: the option, else PostgreSQL at ANDANTE_DATABASE_URL, else a SQLite file.
import { type Logger, type Store, sqliteStore } from "@andante/core";
import { OptionError } from "@andante/core/errors";
import { countOpenExecutions } from "@andante/core/internal";

export interface ChosenStore {
  readonly store: Store;
  /** Logs the choice of the store and warns of likely mistakes. */
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

/** Loaded on demand: a host on SQLite neither installs nor loads the package. */
async function importPostgres(): Promise<typeof import("@andante/postgres")> {
  try {
    return await import("@andante/postgres");
  } catch (error) {
    if (!isMissing(error)) throw error;
    const cure = "run `npm install @andante/postgres`, or unset the variable to use a SQLite file";
    throw new OptionError({ option: variable, problem: `@andante/postgres is not installed: ${cure}` });
  }
}

/** Whether the package itself is missing, not one of its dependencies: that error has another remedy. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes("'@andante/postgres'");
}

/** Reports an invalid address as an error of the environment variable, since no option was given. */
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
