// Proves the limit of recovery: a body that always ends its process is given up, and its neighbours are not.
import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { autopsy, type Remains } from "./autopsy.ts";
import { checkEnding } from "./checks/ending.ts";
import type { WorldMood } from "./instructions.ts";
import { type LifeEnd, runLife } from "./life.ts";
import { readLines } from "./side-log.ts";
import { idOf, type Laboratory, type TrialPlan, type TrialResult } from "./trial.ts";

/** The first life, and five recoveries. */
const deaths = 6;

/** A trial of its own kind: nobody kills its lives but its own body. */
export const crashLoop: TrialPlan = {
  name: "crash-loop",
  scenarios: ["gate", "crash-loop"],
  seed: 0,
  world: "away",
  kills: [],
};

export async function runCrashLoop(plan: TrialPlan, laboratory: Laboratory): Promise<TrialResult> {
  const folder = mkdtempSync(path.join(laboratory.folder, `${plan.name}-`));
  const database = path.join(folder, "andante.db");
  const log = path.join(folder, "side.log");
  let remains = new Map<string, Remains>();
  let end: LifeEnd = { kind: "failed", problem: "no life has run" };
  const problems: string[] = [];
  const live = async (life: number, world: WorldMood, expected: LifeEnd["kind"]) => {
    const executions = plan.scenarios.map((scenario) => {
      const executionId = idOf(scenario);
      return { executionId, scenario, exists: remains.has(executionId), acknowledged: true, after: 0 };
    });
    const instructions = {
      database,
      log,
      life,
      seed: plan.seed,
      world,
      kill: { kind: "none" as const },
      executions,
    };
    const output = path.join(folder, "output.log");
    end = await runLife({ instructions, output });
    remains = await autopsy(database, plan.scenarios.map(idOf));
    if (end.kind !== expected) problems.push(`life ${life} is ${JSON.stringify(end)}, expected: ${expected}`);
  };
  for (let life = 1; life <= deaths; life++) await live(life, "away", "killed");
  // From now on the neighbour is answered; the life ends because the deadly execution is given up.
  await live(deaths + 1, "eager", "done");

  const lines = readLines(log);
  problems.push(...checkGivenUp(remains.get(idOf("crash-loop"))));
  const runs = lines.filter((line) => line.kind === "start" && line.path === "deadly").length;
  if (runs !== deaths) problems.push(`the deadly body ran ${runs} times, expected: ${deaths}`);
  const neighbour = idOf("gate");
  const expected = laboratory.endings.get("gate");
  const neighbourProblems =
    expected === undefined
      ? ["the undisturbed ending of the neighbour is not known"]
      : checkEnding(expected)({
          executionId: neighbour,
          life: deaths + 1,
          before: undefined,
          after: remains.get(neighbour),
          lines: lines.filter((line) => line.executionId === neighbour),
        });
  const executions = new Map([
    [idOf("crash-loop"), problems],
    [neighbour, neighbourProblems],
  ]);
  if (problems.length + neighbourProblems.length === 0) rmSync(folder, { recursive: true, force: true });
  return { plan, kills: deaths, executions, endings: new Map(), lastLife: end, folder };
}

function checkGivenUp(remains: Remains | undefined): string[] {
  const { status, error } = remains?.state.execution ?? {};
  const explained = error?.includes("CrashLoopError") === true && /5 /.test(error);
  if (status === "error" && explained) return [];
  return [`the execution is ${status} with ${error}, expected: error with an explanation`];
}
