// A plugin for Stryker: writes a line for each fault as soon as it was tried, so that a run that is ended early is not lost.
import { appendFileSync, readFileSync } from "node:fs";
import type { MutantResult } from "@stryker-mutator/api/core";
import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";
import { z } from "zod";
import { keyOfResult } from "./faults.ts";

const triedSchema = z.object({
  key: z.string(),
  status: z.string(),
  /** The message of the test that failed, or of the error. */
  reason: z.string(),
  /** The first test that noticed; empty when none did. */
  killedBy: z.string(),
});

/** The verdict on one fault. */
export type Tried = z.infer<typeof triedSchema>;

/** By the key of the fault. */
export function readTried(file: string): Map<string, Tried> {
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return new Map(lines.map((line) => triedSchema.parse(JSON.parse(line))).map((one) => [one.key, one]));
}

const report = {
  onMutantTested({ status, statusReason = "", killedBy = [], ...fault }: MutantResult): void {
    // Not in the sample, or left for a run of all tests.
    if (status === "CompileError" || status === "Ignored") return;
    const key = keyOfResult(process.cwd(), fault);
    const tried: Tried = { key, status, reason: statusReason.slice(0, 1000), killedBy: killedBy[0] ?? "" };
    appendFileSync(process.env.ANDANTE_MUTATE_TRIED ?? "", `${JSON.stringify(tried)}\n`);
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Reporter, "tried", report)];
