// Random executions, conversations and changes of definitions, with crashes and a random world: they end as their
// reference models say, on any store.
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { conversationPlans } from "./conversation-plans.ts";
import { runConversation } from "./conversation-trial.ts";
import { definitionPlans, runDefinitionTrial } from "./definition-trial.ts";
import { runTrial } from "./trial.ts";
import { agentPlans, workflowPlans } from "./workflow-plans.ts";

export interface PropertyOptions {
  readonly seed: number;
  /** Trials in a batch of each family. */
  readonly runs: number;
  /** Milliseconds that a batch may take. */
  readonly batchTime: number;
  /** Seconds for all families: batch follows batch until then. 0: one batch. */
  readonly seconds: number;
  /** Milliseconds for a family; a run with a limit does not look for the smallest failure. 0: no limit. */
  readonly limit: number;
}

interface Family {
  readonly batch: (seed: number) => Promise<void>;
  runs: number;
}

/** Defines a test for each family. The caller opens the store before them. */
export function testFamilies(store: () => Store, options: PropertyOptions): void {
  const { seed, runs, batchTime, seconds, limit } = options;
  function family<Plan>(
    plans: fc.Arbitrary<Plan>,
    run: (store: Store, plan: Plan) => Promise<string[]>,
  ): Family {
    const property = fc.asyncProperty(plans, async (plan) => {
      made.runs++;
      expect(await run(store(), plan)).toEqual([]);
    });
    const usual = { numRuns: runs, interruptAfterTimeLimit: batchTime, markInterruptAsFailure: true };
    const endOnFailure = limit > 0;
    const made: Family = {
      batch: (batchSeed) => fc.assert(property, { ...usual, endOnFailure, seed: batchSeed }),
      runs: 0,
    };
    return made;
  }
  const families: Readonly<Record<string, Family>> = {
    "random workflows": family(workflowPlans, runTrial),
    "random workflows of agents": family(agentPlans, runTrial),
    "random conversations": family(conversationPlans, runConversation),
    "random changes of definitions": family(definitionPlans, runDefinitionTrial),
  };
  for (const [name, { batch }] of Object.entries(families)) {
    const share = seconds / Object.keys(families).length;
    test(`${name} end like the reference model (ANDANTE_PROPERTIES_SEED=${seed})`, {
      timeout: limit || share * 1000 + batchTime * 1.5,
    }, async () => {
      // Batch after batch, each to its end: a run that is stuck must not be cut off and forgotten.
      const end = performance.now() + share * 1000;
      for (let index = 0; index === 0 || performance.now() < end; index++) await batch(seed + index);
    });
  }
  afterAll(() => {
    const counts = Object.entries(families).map(([name, family]) => `${family.runs} ${name}`);
    process.stdout.write(`${counts.join(", ")}, ANDANTE_PROPERTIES_SEED=${seed}\n`);
  });
}
