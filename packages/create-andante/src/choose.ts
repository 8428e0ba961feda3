// The choices for a project: from flags, and from questions about the rest.
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";

export const providers = ["none", "openai", "anthropic", "google"] as const;
export const databases = ["sqlite", "postgres", "restate"] as const;

export interface Choices {
  /** The name of the package and of its folder. */
  readonly name: string;
  readonly provider: (typeof providers)[number];
  readonly database: (typeof databases)[number];
}

/** A mistake that the caller can correct. */
export class UsageError extends Error {}

const defaults: Choices = { name: "my-andante", provider: "none", database: "sqlite" };

const usage = `npm create andante@latest [name] [-- --provider ${providers.join("|")} --database ${databases.join("|")} --yes]

  --name      the name of the project and of its folder (${defaults.name})
  --provider  whose models the agent uses; none: a demo model without a key (${defaults.provider})
  --database  where everything is kept (${defaults.database})
  --yes       asks nothing
`;

export interface Surroundings {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
  /** Throws a UsageError where a project of this name cannot be written. */
  checkFolder(name: string): void;
}

/** The choices, or the help text for --help. */
export async function choose(
  args: readonly string[],
  { input, output, checkFolder }: Surroundings,
): Promise<Choices | string> {
  const { values, positionals } = read(args);
  if (values.help === true) return usage;
  // Flags are checked before any question.
  const [position] = positionals;
  if (values.name !== undefined && position !== undefined)
    throw new UsageError(`one name is enough, and "${position}" is a second`);
  const given = checked({ ...values, name: values.name ?? position });
  if (given.name !== undefined) checkFolder(given.name);
  const isComplete = given.name !== undefined && given.provider !== undefined && given.database !== undefined;
  if (values.yes === true || isComplete) return { ...defaults, ...given };
  if (input.isTTY !== true) {
    throw new UsageError("there is no terminal to ask at: add --yes, or --name, --provider and --database");
  }
  const terminal = createInterface({ input, output });
  /** Asks until the reply is valid. */
  const ask = async <T>(question: string, standard: string, check: (reply: string) => T): Promise<T> => {
    for (;;) {
      const reply = (await terminal.question(`${question} (${standard}): `)).trim() || standard;
      try {
        return check(reply);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        output.write(`${error.message}\n`);
      }
    }
  };
  const freeName = (reply: string) => {
    const name = checks.name(reply);
    checkFolder(name);
    return name;
  };
  const models = `Models from ${providers.join(", ")}; none is a demo model without a key`;
  try {
    return {
      name: given.name ?? (await ask("Name of the project", defaults.name, freeName)),
      provider: given.provider ?? (await ask(models, defaults.provider, checks.provider)),
      database:
        given.database ??
        (await ask(`Database, ${databases.join(" or ")}`, defaults.database, checks.database)),
    };
  } finally {
    terminal.close();
  }
}

/** Names reserved by npm for packages, or by Windows for devices. */
const reserved = /^(node_modules|favicon\.ico|(con|prn|aux|nul|com\d|lpt\d)(\..*)?)$/;

/** Each function returns a valid choice or throws a UsageError. */
const checks = {
  name(given: string): string {
    if (reserved.test(given))
      throw new UsageError(`"${given}" is a name that npm or Windows keeps for itself`);
    if (/^[a-z0-9]([a-z0-9._-]{0,99}[a-z0-9_-])?$/.test(given)) return given;
    throw new UsageError(`"${given}" cannot be the name of a package: use lowercase letters, digits, - . _`);
  },
  provider: (given: string) => oneOf("provider", providers, given),
  database: (given: string) => oneOf("database", databases, given),
};

function checked({
  name,
  provider,
  database,
}: { readonly [choice in keyof Choices]?: string | undefined }): Partial<Choices> {
  return {
    ...(name !== undefined && { name: checks.name(name) }),
    ...(provider !== undefined && { provider: checks.provider(provider) }),
    ...(database !== undefined && { database: checks.database(database) }),
  };
}

function read(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = { name: text, provider: text, database: text, yes: flag, help: flag };
  try {
    const parsed = parseArgs({ args: [...args], options, allowPositionals: true });
    const [, tooMany] = parsed.positionals;
    if (tooMany !== undefined) throw new UsageError(`one name is enough, and "${tooMany}" is a second`);
    return parsed;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}

function oneOf<T extends string>(what: string, known: readonly T[], given: string): T {
  const found = known.find((each) => each === given.toLowerCase());
  if (found !== undefined) return found;
  throw new UsageError(`"${given}" is not a ${what}; choose one of ${known.join(", ")}`);
}
