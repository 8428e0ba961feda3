// Random executions, conversations and changes of definitions, with crashes and a random world: they end as their
// reference models say. `npm test` runs the same ones each time, so that a failure comes from a change of the code;
// `npm run properties` looks for others, spreading its time over the families.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { conversationPlans } from "./conversation-plans.ts";
import { runConversation } from "./conversation-trial.ts";
import { definitionPlans, runDefinitionTrial } from "./definition-trial.ts";
import { runTrial } from "./trial.ts";
import { agentPlans, workflowPlans } from "./workflow-plans.ts";

const seconds = Number(process.env.ANDANTE_PROPERTIES_SECONDS ?? 0);
const chosen = seconds === 0 ? 1 : Math.floor(Math.random() * 2 ** 31);
const seed = Number(process.env.ANDANTE_PROPERTIES_SEED ?? chosen);
/** Milliseconds for a family; a run with a limit does not look for the smallest failure. Only mutation runs have one. */
const limit = Number(process.env.ANDANTE_PROPERTIES_LIMIT ?? 0);

interface Family {
  readonly batch: (seed: number) => Promise<void>;
  runs: number;
}

const store = memoryStore();
beforeAll(() => store.open());
afterAll(() => store.close());

const families: Readonly<Record<string, Family>> = {
  "random workflows": family(workflowPlans, runTrial),
  "random workflows of agents": family(agentPlans, runTrial),
  "random conversations": family(conversationPlans, runConversation),
  "random changes of definitions": family(definitionPlans, runDefinitionTrial),
};

for (const [name, { batch }] of Object.entries(families)) {
  const share = seconds / Object.keys(families).length;
  test(`${name} end like the reference model (ANDANTE_PROPERTIES_SEED=${seed})`, {
    timeout: limit || (share + 300) * 1000,
  }, async () => {
    // Batch after batch, each to its end: a run that is stuck must not be cut off and forgotten.
    const end = performance.now() + share * 1000;
    for (let index = 0; index === 0 || performance.now() < end; index++) await batch(seed + index);
  });
}

afterAll(() => {
  const counts = Object.entries(families).map(([name, { runs }]) => `${runs} ${name}`);
  process.stdout.write(`${counts.join(", ")}, ANDANTE_PROPERTIES_SEED=${seed}\n`);
});

function family<Plan>(
  plans: fc.Arbitrary<Plan>,
  run: (store: Store, plan: Plan) => Promise<string[]>,
): Family {
  const property = fc.asyncProperty(plans, async (plan) => {
    made.runs++;
    expect(await run(store, plan)).toEqual([]);
  });
  const options = { numRuns: 20, interruptAfterTimeLimit: 200_000, markInterruptAsFailure: true };
  const endOnFailure = limit > 0;
  const made: Family = {
    batch: (batchSeed) => fc.assert(property, { ...options, endOnFailure, seed: batchSeed }),
    runs: 0,
  };
  return made;
}
