// What lies beside each database of a fixture: what it holds, as the release that wrote it showed it, and how it ends.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const json = z.record(z.string(), z.unknown());

/** What must be so afterwards; fields that are not named may be anything. */
const ending = z.looseObject({
  status: z.enum(["completed", "error", "cancelled", "suspended"]),
  result: z.unknown().optional(),
});

/** One thing to do with an opened fixture, in the words of the public interface. */
const action = z.discriminatedUnion("do", [
  z.object({
    do: z.literal("resume"),
    executionId: z.string(),
    data: z.unknown().optional(),
    stepId: z.string().optional(),
    expected: ending,
  }),
  /** Nothing is done: it ends by itself. */
  z.object({ do: z.literal("end"), executionId: z.string(), expected: ending }),
  z.object({ do: z.literal("replay"), executionId: z.string(), stepId: z.string(), expected: ending }),
  /** The clock is moved on. */
  z.object({ do: z.literal("advance"), to: z.iso.datetime() }),
]);

const execution = z.object({
  workflowId: z.string(),
  executionId: z.string(),
  /** Bodies, and functions beside them, that ran and whose outcome was committed: none of them may run again. */
  done: z.array(z.string()),
  state: json,
  events: z.array(json),
});

const fixtureSchema = z.object({
  /** The time at which it is opened again; null is the machine's. */
  clock: z.iso.datetime().nullable(),
  finish: z.array(action),
  /** What runs while it is finished, by execution: paths in alphabetical order. */
  runs: z.record(z.string(), z.array(z.string())),
  /** What models are asked and tools do meanwhile, in alphabetical order. */
  asks: z.array(z.string()),
  list: z.array(json),
  executions: z.array(execution),
  /** Where nothing was under way: what else was kept. */
  observations: z
    .object({
      conversations: z.array(z.object({ conversation: json, messages: z.array(json) })),
      logs: z.array(json),
      traces: z.array(
        z.object({ summary: json, trace: json.and(z.object({ spans: z.array(z.unknown()) })) }),
      ),
    })
    .nullable(),
});

export type Action = z.infer<typeof action>;
export type Fixture = z.infer<typeof fixtureSchema>;

export const fixturesFolder = fileURLToPath(new URL("./fixtures/", import.meta.url));

export interface FoundFixture {
  readonly release: string;
  readonly name: string;
  /** The database; a `-wal` beside it belongs to it. */
  readonly database: string;
  readonly fixture: Fixture;
}

/** Every fixture of every release. */
export function findFixtures(): FoundFixture[] {
  return readdirSync(fixturesFolder).flatMap((release) => {
    const folder = path.join(fixturesFolder, release);
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return names.map((file) => {
      const name = path.basename(file, ".json");
      const fixture = fixtureSchema.parse(JSON.parse(readFileSync(path.join(folder, file), "utf8")));
      return { release, name, database: path.join(folder, `${name}.db`), fixture };
    });
  });
}

/** A line for each element of a list, so that a diff shows what differs. */
export function writeFixture(fixture: Fixture): string {
  const value = (each: unknown) =>
    Array.isArray(each) && each.length > 0
      ? `[\n${each.map((element) => `    ${JSON.stringify(element)}`).join(",\n")}\n  ]`
      : JSON.stringify(each);
  const fields = Object.entries(fixture).map(([name, each]) => `  ${JSON.stringify(name)}: ${value(each)}`);
  return `{\n${fields.join(",\n")}\n}\n`;
}
