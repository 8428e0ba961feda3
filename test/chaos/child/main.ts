// One life of the process under test: opens the store as any host does, and cares for its executions until they end.
import { createAndante, createLogger, sqliteStore } from "@andante/core";
import { createRandom } from "../../../packages/core/test/support/random.ts";
import { type Instructions, instructionsSchema, type Report } from "../instructions.ts";
import { loadScenarios } from "../scenarios/index.ts";
import { Bodies } from "./bodies.ts";
import { Killer } from "./killer.ts";
import { killingStore } from "./killing-store.ts";
import { World } from "./world.ts";

async function live(instructions: Instructions): Promise<void> {
  const { database, log, life, seed, world: mood, executions } = instructions;
  const killer = new Killer(instructions.kill);
  const names = [...new Set(executions.map(({ scenario }) => scenario))];
  const scenarios = await loadScenarios(names, new Bodies({ log, life, killer }));
  const andante = createAndante({
    workflows: Object.fromEntries([...scenarios].map(([name, { workflow }]) => [name, workflow])),
    store: killingStore(sqliteStore({ path: database }), killer),
    logger: createLogger({ level: "error" }),
  });
  report({ kind: "opening" });
  await andante.ready();
  report({ kind: "ready" });
  const random = createRandom(seed + life);
  await Promise.all(
    executions.map(async (execution) => {
      const scenario = scenarios.get(execution.scenario);
      if (scenario === undefined) throw new Error(`unknown scenario ${execution.scenario}`);
      await new World({ andante, scenario, execution, log, life, mood, random }).live();
    }),
  );
  await andante.close();
  report({ kind: "done", counts: killer.counts });
}

function report(message: Report): void {
  process.send?.(message);
}

// A parent that is gone takes its children along.
process.once("disconnect", () => process.exit());

try {
  await live(instructionsSchema.parse(JSON.parse(process.argv[2] ?? "")));
} catch (error) {
  report({
    kind: "failed",
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
} finally {
  process.disconnect();
}
