// A plugin for Stryker: lets only the faults of the sample be tried, and writes down their files for the order of the tests.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Checker, type CheckResult, CheckStatus } from "@stryker-mutator/api/check";
import type { Mutant } from "@stryker-mutator/api/core";
import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";
import { z } from "zod";
import { keyOf } from "./faults.ts";

class SampleChecker implements Checker {
  readonly #sample = new Set<string>();
  /** The file of each fault, by its number. */
  readonly #places: Record<string, string> = {};
  readonly #file = process.env.ANDANTE_MUTATE_SAMPLE ?? "";

  async init(): Promise<void> {
    const text = readFileSync(this.#file, "utf8");
    for (const key of z.array(z.string()).parse(JSON.parse(text))) this.#sample.add(key);
  }

  async check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    const results = Object.fromEntries(mutants.map((mutant) => [mutant.id, this.#look(mutant)]));
    writeFileSync(`${this.#file}.places`, JSON.stringify(this.#places));
    return results;
  }

  async group(mutants: Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }

  #look(mutant: Mutant): CheckResult {
    const fileName = path.relative(process.cwd(), mutant.fileName);
    if (!this.#sample.has(keyOf({ ...mutant, fileName }))) {
      // Others may be at the same places.
      return { status: CheckStatus.CompileError, reason: "not in the sample" };
    }
    this.#places[mutant.id] = fileName;
    return { status: CheckStatus.Passed };
  }
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Checker, "sample", new SampleChecker())];
