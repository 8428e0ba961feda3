// The options of the store: their checks and defaults.
import { OptionError } from "@andante/core/errors";
import { checkKnownOptions, countOption, type KnownOptions } from "@andante/core/internal";

export interface PostgresStoreOptions {
  /**
   * Where the database is: `postgres://user:password@host:5432/database`. Several servers of one database, as
   * `postgres://user:password@one:5432,two:5432/database`: the one that accepts writes is used, also after a failover.
   */
  readonly url: string;
  /** The schema that holds the tables; made when it is missing and the user may. Default: `andante`. */
  readonly schema?: string;
  /**
   * Where to listen for the writes of other nodes, when `url` leads to a pooler that shares connections between
   * transactions: the address of the database itself. False: never listen, only ask from time to time. Default: `url`.
   */
  readonly listenUrl?: string | false;
  /**
   * Milliseconds after which the others take over the executions of a silent node: at least a few times the length of a
   * garbage collection or of a fail-over of the database. Default: 10 000.
   */
  readonly lease?: number;
  /** Connections that write executions, each with a transaction of its own under way. Default: 2. */
  readonly writers?: number;
  /** Connections for everything that is read, and for the writes that are rare. Default: 4. */
  readonly readers?: number;
  /**
   * Whether statements are prepared once for each connection. Behind a pooler that shares connections between
   * transactions they cannot be. Default: found out at each connection.
   */
  readonly prepare?: boolean;
  /** Whether `open` brings the schema up to date. False where the user may not: then another one has to. Default: true. */
  readonly migrate?: boolean;
  /** Milliseconds that a connection may take. Default: 5 000. */
  readonly connectTimeout?: number;
  /**
   * Milliseconds that a statement may take before its connection is given up, and that the database leaves a transaction
   * open whose node has frozen. Default: 30 000 and a third of that, at most half the lease.
   */
  readonly statementTimeout?: number;
}

export interface Settings {
  readonly url: string;
  readonly schema: string;
  readonly listenUrl: string | undefined;
  readonly lease: number;
  readonly writers: number;
  readonly readers: number;
  readonly prepare: boolean | undefined;
  readonly migrate: boolean;
  readonly connectTimeout: number;
  readonly statementTimeout: number;
}

const knownOptions: KnownOptions<PostgresStoreOptions> = {
  url: true,
  schema: true,
  listenUrl: true,
  lease: true,
  writers: true,
  readers: true,
  prepare: true,
  migrate: true,
  connectTimeout: true,
  statementTimeout: true,
};

/** The longest name that PostgreSQL keeps whole. */
const maxNameBytes = 63;

export function readOptions(options: PostgresStoreOptions): Settings {
  checkKnownOptions("postgresStore", options, knownOptions);
  const { schema = "andante", listenUrl, prepare, migrate = true } = options;
  checkUrl("url", options?.url);
  if (listenUrl !== undefined && listenUrl !== false) checkUrl("listenUrl", listenUrl);
  if (typeof schema !== "string" || schema === "" || schema.includes("\u0000"))
    throw new OptionError({ option: "schema", problem: "expected the name of a schema" });
  if (Buffer.byteLength(schema) > maxNameBytes)
    throw new OptionError({ option: "schema", problem: `at most ${maxNameBytes} bytes` });
  for (const [option, value] of Object.entries({ prepare, migrate })) {
    if (value !== undefined && typeof value !== "boolean")
      throw new OptionError({ option, problem: "expected true or false" });
  }
  return {
    url: options.url,
    schema,
    listenUrl: listenUrl === false ? undefined : (listenUrl ?? options.url),
    lease: countOption("lease", options.lease, 10_000, 3_600_000),
    writers: countOption("writers", options.writers, 2, 16),
    readers: countOption("readers", options.readers, 4, 100),
    prepare,
    migrate,
    connectTimeout: countOption("connectTimeout", options.connectTimeout, 5_000, 600_000),
    statementTimeout: countOption("statementTimeout", options.statementTimeout, 30_000, 3_600_000),
  };
}

/** The addresses in a URL that names one or several hosts, as libpq writes them: `postgres://user@one:5432,two:5432/name`. */
export function addressesIn(url: string): readonly string[] {
  const [, before = "", hosts = "", rest = ""] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/i.exec(url) ?? [];
  return hosts.split(",").map((host) => `${before}${host}${rest}`);
}

function checkUrl(option: string, url: unknown): void {
  const isAddress = (text: string) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text);
  if (typeof url !== "string" || !addressesIn(url).every(isAddress))
    throw new OptionError({ option, problem: "expected postgres://user:password@host:port/database" });
}

/** The location of the store for the log: without the password, the user and the other parts of the address. */
export function locationOf({ url, schema }: Settings): string {
  const addresses = addressesIn(url).map((address) => new URL(address));
  const hosts = addresses.map(({ host }) => host).join(",");
  return `postgres://${hosts}${addresses[0]?.pathname ?? ""} (schema ${schema})`;
}
