// Proves the limit of recovery: a body that always ends its process is given up, and its neighbours are not.
import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { autopsy, type Remains } from "./autopsy.ts";
import { checkEnding } from "./checks/ending.ts";
import type { Instructions, WorldMood } from "./instructions.ts";
import { type LifeEnd, runLife } from "./life.ts";
import { type Line, readLines } from "./side-log.ts";
import { idOf, type Laboratory, type TrialPlan, type TrialResult } from "./trial.ts";

/** The first life, and five recoveries. */
const deaths = 6;
const deadly = "crash-loop";
/** Its undisturbed ending must be known. */
export const neighbour = "gate";

/** A trial of its own kind: only its own body kills its lives. */
export const crashLoop: TrialPlan = {
  name: "crash-loop",
  scenarios: [neighbour, deadly],
  seed: 0,
  world: "away",
  kills: [],
};

export async function runCrashLoop(plan: TrialPlan, laboratory: Laboratory): Promise<TrialResult> {
  const folder = mkdtempSync(path.join(laboratory.folder, `${plan.name}-`));
  const proof = new CrashLoop(plan, folder);
  for (let life = 1; life <= deaths; life++) await proof.live(life, "away", "killed");
  // From now on the neighbour is answered; the life ends because the deadly execution is given up.
  await proof.live(deaths + 1, "eager", "done");
  const executions = new Map([
    [idOf(deadly), [...proof.problems, ...proof.checkGivenUp()]],
    [idOf(neighbour), proof.checkNeighbour(laboratory)],
  ]);
  if ([...executions.values()].flat().length === 0) rmSync(folder, { recursive: true, force: true });
  return { plan, kills: deaths, executions, endings: new Map(), lastLife: proof.end, folder };
}

class CrashLoop {
  readonly problems: string[] = [];
  end: LifeEnd = { kind: "failed", problem: "no life has run" };
  readonly #plan: TrialPlan;
  readonly #folder: string;
  #remains = new Map<string, Remains>();

  constructor(plan: TrialPlan, folder: string) {
    this.#plan = plan;
    this.#folder = folder;
  }

  async live(life: number, world: WorldMood, expected: LifeEnd["kind"]): Promise<void> {
    const instructions = this.#instructions(life, world);
    this.end = await runLife({ instructions, output: path.join(this.#folder, "output.log") });
    this.#remains = await autopsy(instructions.database, this.#plan.scenarios.map(idOf));
    if (this.end.kind !== expected)
      this.problems.push(`life ${life} is ${JSON.stringify(this.end)}, expected: ${expected}`);
  }

  checkGivenUp(): string[] {
    const problems: string[] = [];
    const { status, error } = this.#remains.get(idOf(deadly))?.state.execution ?? {};
    const explained = error?.includes(`recovered ${deaths - 1} times`) === true;
    if (status !== "error" || !explained)
      problems.push(`the execution is ${status} with ${error}, expected: error with an explanation`);
    const runs = this.#lines().filter((line) => line.kind === "start" && line.path === "deadly").length;
    if (runs !== deaths) problems.push(`the deadly body ran ${runs} times, expected: ${deaths}`);
    return problems;
  }

  checkNeighbour({ endings }: Laboratory): string[] {
    const expected = endings.get(neighbour);
    if (expected === undefined) return ["the undisturbed ending of the neighbour is not known"];
    const executionId = idOf(neighbour);
    return checkEnding(expected)({
      executionId,
      life: deaths + 1,
      before: undefined,
      after: this.#remains.get(executionId),
      lines: this.#lines().filter((line) => line.executionId === executionId),
    });
  }

  #lines(): Line[] {
    return readLines(path.join(this.#folder, "side.log"));
  }

  #instructions(life: number, world: WorldMood): Instructions {
    return {
      database: path.join(this.#folder, "andante.db"),
      log: path.join(this.#folder, "side.log"),
      life,
      seed: this.#plan.seed,
      world,
      kill: { kind: "none" },
      executions: this.#plan.scenarios.map((scenario) => {
        const executionId = idOf(scenario);
        const exists = this.#remains.has(executionId);
        return { executionId, scenario, exists, acknowledged: exists, after: 0 };
      }),
    };
  }
}
