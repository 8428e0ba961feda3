// The store of `serve`: the option, else PostgreSQL at ANDANTE_DATABASE_URL or Restate at ANDANTE_RESTATE_URL, else a
// SQLite file.
import { type Logger, type Store, sqliteStore } from "@andante/core";
import { OptionError } from "@andante/core/errors";
import { countOpenExecutions } from "@andante/core/internal";

export interface ChosenStore {
  readonly store: Store;
  /** Logs the choice of the store and warns of likely mistakes. */
  log(logger: Logger): Promise<void>;
}

/** A store that an environment variable chooses. */
interface Choice {
  readonly name: string;
  readonly variable: string;
  /** `url` is the value of the variable. */
  make(url: string): Promise<Store>;
}

const postgres: Choice = {
  name: "PostgreSQL",
  variable: "ANDANTE_DATABASE_URL",
  async make(url) {
    const { postgresStore } = await installed(
      this.variable,
      "@andante/postgres",
      () => import("@andante/postgres"),
    );
    const expected = "expected postgres://user:password@host:port/database";
    return openable(
      () => postgresStore({ url }),
      () => ({ option: this.variable, problem: expected }),
    );
  },
};

const restateVariables: Readonly<Record<string, string>> = {
  ingressUrl: "ANDANTE_RESTATE_URL",
  adminUrl: "ANDANTE_RESTATE_ADMIN_URL",
  "endpoint.url": "ANDANTE_RESTATE_ENDPOINT_URL",
  "endpoint.port": "ANDANTE_RESTATE_ENDPOINT_PORT",
};

/** The ports on which Restate is administrated and a node listens for its calls, where no variable has others. */
const adminPort = "9070";
const endpointPort = 9080;

const restate: Choice = {
  name: "Restate",
  variable: "ANDANTE_RESTATE_URL",
  async make(url) {
    const { restateStore } = await installed(
      this.variable,
      "@andante/restate",
      () => import("@andante/restate"),
    );
    const ingressUrl = url.split(",").map((each) => each.trim());
    const endpointUrl = variable("ANDANTE_RESTATE_ENDPOINT_URL") ?? "";
    const token = variable("ANDANTE_RESTATE_TOKEN");
    const port = variable("ANDANTE_RESTATE_ENDPOINT_PORT") ?? (portIn(endpointUrl) || endpointPort);
    const make = () =>
      restateStore({
        ingressUrl,
        adminUrl: variable("ANDANTE_RESTATE_ADMIN_URL") ?? adminUrlBeside(ingressUrl[0] ?? ""),
        endpoint: { port: Number(port), url: endpointUrl },
        ...(token !== undefined && { token }),
      });
    return openable(make, ({ message }) => {
      const [, option = "", problem = message] = /^Option (\S+): (.*)$/.exec(message) ?? [];
      return { option: restateVariables[option] ?? this.variable, problem };
    });
  },
};

const nothing = async () => undefined;

export async function chooseStore(given: Store | undefined): Promise<ChosenStore> {
  if (given !== undefined) return { store: given, log: nothing };
  const path = process.env.ANDANTE_DB ?? "./andante.db";
  const [chosen, other] = [postgres, restate].filter((choice) => variable(choice.variable) !== undefined);
  if (chosen === undefined) return { store: sqliteStore({ path }), log: nothing };
  if (other !== undefined)
    throw new OptionError({
      option: other.variable,
      problem: `${chosen.variable} names another store: unset one of them`,
    });
  const { name, variable: set } = chosen;
  const store = await chosen.make(variable(set) ?? "");
  return {
    store,
    async log(logger) {
      logger.info({ store: store.location }, `using ${name}, because ${set} is set`);
      const open = await countOpenExecutions(path);
      const left = `this file holds open executions, which do not run: ${set} names another store`;
      if (open > 0) logger.warn({ file: path, open }, left);
    },
  };
}

/** The value of an environment variable; undefined when it is empty. */
function variable(name: string): string | undefined {
  const value = process.env[name];
  return value === "" ? undefined : value;
}

function portIn(url: string): string {
  return URL.canParse(url) ? new URL(url).port : "";
}

/** The same host, at the port where Restate is administrated. */
function adminUrlBeside(ingressUrl: string): string {
  if (!URL.canParse(ingressUrl)) return ingressUrl;
  const url = new URL(ingressUrl);
  url.port = adminPort;
  return url.origin;
}

/** Loads the package of a store on demand: a host on SQLite neither installs nor loads it. */
async function installed<Module>(option: string, name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    // Where a dependency of the package is missing, the remedy is another one.
    const isMissing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing || !error.message.includes(`'${name}'`)) throw error;
    const cure = `run \`npm install ${name}\`, or unset the variable to use a SQLite file`;
    throw new OptionError({ option, problem: `${name} is not installed: ${cure}` });
  }
}

/** Reports an invalid address as an error of its environment variable, since no option was given. */
function openable(
  make: () => Store,
  problemOf: (error: OptionError) => { readonly option: string; readonly problem: string },
): Store {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new OptionError(problemOf(error));
  }
}
