// Prints measured budgets, and records them in RESULTS.md with machine and versions.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";

/** One figure and its limit. */
export interface Budget {
  readonly name: string;
  readonly value: string;
  readonly budget: string;
  readonly held: boolean;
  readonly note?: string;
}

const file = new URL("./RESULTS.md", import.meta.url);
const heading = "# Results\n\nWritten by the benchmarks themselves. Ratios are measured within one run.\n";

function table(budgets: readonly Budget[]): string {
  const rows = budgets.map(({ name, value, budget, held, note }) => {
    return `| ${name} | ${value} | ${budget} | ${held ? "yes" : "**no**"} | ${note ?? ""} |`;
  });
  return ["| What | Measured | Budget | Held | |", "| --- | --- | --- | --- | --- |", ...rows].join("\n");
}

export function printBudgets(title: string, budgets: readonly Budget[]): void {
  console.log(`\n${title}\n\n${table(budgets)}\n`);
}

/** Replaces the section of this title. */
export function recordBudgets(title: string, command: string, budgets: readonly Budget[]): void {
  const machine = `${os.cpus().length} cores (${os.cpus()[0]?.model ?? "unknown"}), ${os.type()}, Node ${process.versions.node}`;
  const date = new Date().toISOString().slice(0, 10);
  const section = `## ${title}\n\n\`${command}\`, ${date}, ${machine}\n\n${table(budgets)}\n`;
  const text = existsSync(file) ? readFileSync(file, "utf8") : heading;
  const sections = text.split(/(?=^## )/m);
  const kept = sections.filter((each) => !each.startsWith(`## ${title}\n`)).map((each) => each.trimEnd());
  writeFileSync(file, `${[...kept, section.trimEnd()].join("\n\n")}\n`);
}
