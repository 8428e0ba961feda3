// What the project will be: from flags, and from questions about what they leave open.
import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import { parseArgs } from "node:util";

export const providers = ["none", "openai", "anthropic", "google"] as const;
export const databases = ["sqlite", "postgres"] as const;

export interface Choices {
  /** The name of the package and of its folder. */
  readonly name: string;
  readonly provider: (typeof providers)[number];
  readonly database: (typeof databases)[number];
}

/** Something that the caller can put right. */
export class UsageError extends Error {}

const defaults: Choices = { name: "my-andante", provider: "none", database: "sqlite" };

const usage = `npm create andante@latest [name] [-- --provider ${providers.join("|")} --database ${databases.join("|")} --yes]

  --name      the name of the project and of its folder (${defaults.name})
  --provider  whose models the agent uses; none: a demo model without a key (${defaults.provider})
  --database  where everything is kept (${defaults.database})
  --yes       asks nothing
`;

/** The choices, or the text that was asked for with --help. */
export async function choose(
  args: readonly string[],
  input: Readable & { readonly isTTY?: boolean },
  output: Writable,
): Promise<Choices | string> {
  const { values, positionals } = read(args);
  if (values.help === true) return usage;
  const given = { ...values, name: values.name ?? positionals[0] };
  const isComplete = given.name !== undefined && given.provider !== undefined && given.database !== undefined;
  if (values.yes === true || isComplete) return check({ ...defaults, ...defined(given) });
  if (input.isTTY !== true) {
    throw new UsageError("there is no terminal to ask at: add --yes, or --name, --provider and --database");
  }
  const terminal = createInterface({ input, output });
  try {
    const ask = async (question: string, known: string | undefined, standard: string) =>
      known ?? ((await terminal.question(`${question} (${standard}): `)).trim() || standard);
    return check({
      name: await ask("Name of the project", given.name, defaults.name),
      provider: await ask(
        `Models from ${providers.join(", ")}; none is a demo model without a key`,
        given.provider,
        defaults.provider,
      ),
      database: await ask(`Database, ${databases.join(" or ")}`, given.database, defaults.database),
    });
  } finally {
    terminal.close();
  }
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

function check({ name, provider, database }: Readonly<Record<keyof Choices, string>>): Choices {
  if (!/^[a-z0-9][a-z0-9._-]{0,100}$/.test(name)) {
    throw new UsageError(`"${name}" cannot be the name of a package: use lowercase letters, digits, - . _`);
  }
  return {
    name,
    provider: oneOf("--provider", providers, provider),
    database: oneOf("--database", databases, database),
  };
}

function oneOf<T extends string>(flag: string, known: readonly T[], given: string): T {
  const found = known.find((each) => each === given.toLowerCase());
  if (found !== undefined) return found;
  throw new UsageError(`${flag} "${given}" is not known; it is one of ${known.join(", ")}`);
}

function defined(given: Readonly<Record<string, string | boolean | undefined>>): Record<string, string> {
  const texts = Object.entries(given).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return Object.fromEntries(texts);
}
