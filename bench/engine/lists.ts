// Long lists: time per item does not grow with the list, memory stays bounded, and so does taking one up again.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { z } from "zod";
import type { Budget } from "../results.ts";

const costSchema = z.object({ executionId: z.string(), milliseconds: z.number(), grown: z.number() });

/** Each with half the items of the next. */
const shares = [0.25, 0.5, 1];
/** Events of the list's journal for each item: its start and its end. */
const eventsPerItem = 2;
const rounds = 3;
/** Milliseconds that the sleeping items sleep, all at once. */
const nap = 500;

export function lists(folder: string, scale: number): Budget[] {
  const counts = shares.map((share) => Math.ceil(10_000 * scale * share));
  const files = counts.map((count) => path.join(folder, `list-${count}.db`));
  const runs = counts.map((count, index) => measure(files[index] ?? "", "list", () => String(count)));
  const again = counts.map((_, index) => {
    const executions = runs[index]?.executions ?? [];
    return measure(files[index] ?? "", "list", (round) => executions[round] ?? "");
  });
  const asleep = counts.map((count) => measure(path.join(folder, "naps.db"), "naps", () => String(count)));
  const [count = 0] = counts.slice(-1);
  return [
    linear(`andForEach over ${count} items`, runs, counts, { unit: "item" }),
    linear("taking it up again at its end", again, counts, { unit: "event", perItem: eventsPerItem }),
    linear(`${count} items asleep at once`, asleep, counts, { unit: "item", fixed: nap }),
    ...[runs, again, asleep].map((costs, index): Budget => {
      const grown = Math.max(...costs.map((cost) => cost.grown));
      const name = ["the list", "taking it up", "the sleeping items"][index];
      return {
        name: `memory of the process: ${name}`,
        value: `${grown.toFixed(0)} MB more`,
        budget: "within 100 MB of idle",
        held: grown < 100,
      };
    }),
  ];
}

interface Cost {
  readonly milliseconds: number;
  readonly grown: number;
  readonly executions: readonly string[];
}

/** Three processes; the shortest of their times, because other work only ever adds to it, and the most of their memory. */
function measure(file: string, workflowId: string, argument: (round: number) => string): Cost {
  const script = path.join(import.meta.dirname, "list-process.ts");
  const costs = Array.from({ length: rounds }, (_, round) => {
    const args = ["--conditions=andante-source", "--expose-gc", script, file, workflowId, argument(round)];
    return costSchema.parse(JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })));
  });
  return {
    milliseconds: Math.min(...costs.map((cost) => cost.milliseconds)),
    grown: Math.max(...costs.map((cost) => cost.grown)),
    executions: costs.map((cost) => cost.executionId),
  };
}

/** `perItem` of the units are in an item; `fixed` milliseconds do not depend on their number. */
function linear(
  name: string,
  costs: readonly Cost[],
  counts: readonly number[],
  { unit, perItem = 1, fixed = 0 }: { unit: string; perItem?: number; fixed?: number },
): Budget {
  const each = costs.map(
    ({ milliseconds }, index) => ((milliseconds - fixed) * 1000) / ((counts[index] ?? 1) * perItem),
  );
  const [first = Number.NaN] = each;
  const [last = Number.NaN] = each.slice(-1);
  return {
    name: `${name}, time per ${unit} against a quarter of them`,
    value: `${(last / first).toFixed(2)} ×`,
    budget: "linear (under 1.5 ×)",
    held: last / first < 1.5,
    note: `${each.map((value) => value.toFixed(0)).join(", ")} µs per ${unit} at ${counts.join(", ")} items`,
  };
}
