// A plugin for Stryker: lets only the faults of the sample be tried. Others may stand at the same places.
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Checker, type CheckResult, CheckStatus } from "@stryker-mutator/api/check";
import type { Mutant } from "@stryker-mutator/api/core";
import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";
import { z } from "zod";
import { keyOf } from "./faults.ts";

class SampleChecker implements Checker {
  readonly #sample = new Set<string>();

  async init(): Promise<void> {
    const text = readFileSync(process.env.ANDANTE_MUTATE_SAMPLE ?? "", "utf8");
    for (const key of z.array(z.string()).parse(JSON.parse(text))) this.#sample.add(key);
  }

  async check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    return Object.fromEntries(mutants.map((mutant) => [mutant.id, this.#look(mutant)]));
  }

  async group(mutants: Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }

  #look(mutant: Mutant): CheckResult {
    const fileName = path.relative(process.cwd(), mutant.fileName);
    if (this.#sample.has(keyOf({ ...mutant, fileName }))) return { status: CheckStatus.Passed };
    return { status: CheckStatus.CompileError, reason: "not in the sample" };
  }
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Checker, "sample", new SampleChecker())];
