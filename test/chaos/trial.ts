// One trial: executions in one database file, a row of lives with kills, and the checks after each.
import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { autopsy, type Remains } from "./autopsy.ts";
import { type Ending, endingOf } from "./checks/ending.ts";
import type { Evidence } from "./checks/evidence.ts";
import { checkEnd, checkLife } from "./checks/index.ts";
import { type Instructions, type Kill, killSchema, worldSchema } from "./instructions.ts";
import { type LifeEnd, runLife } from "./life.ts";
import { type Line, readLines } from "./side-log.ts";

/** A trial as plain data: enough to repeat it. */
export const trialPlanSchema = z.object({
  name: z.string(),
  /** One execution for each. */
  scenarios: z.array(z.string()),
  seed: z.int(),
  world: worldSchema,
  /** How each life ends; after the last kill one more life runs to the end. */
  kills: z.array(killSchema),
});

export type TrialPlan = z.infer<typeof trialPlanSchema>;

/** The folder of trials, and the run to compare with. */
export interface Laboratory {
  /** Each trial has a folder of its own in here, removed when it passed. */
  readonly folder: string;
  /** How undisturbed executions end, by scenario. */
  readonly endings: ReadonlyMap<string, Ending>;
}

export interface TrialResult {
  readonly plan: TrialPlan;
  /** Kills that hit a life; a life may end before its kill. */
  readonly kills: number;
  /** The faults, by execution. */
  readonly executions: ReadonlyMap<string, readonly string[]>;
  readonly endings: ReadonlyMap<string, Ending>;
  readonly lastLife: LifeEnd;
  readonly folder: string;
}

/** An execution is given up after five recoveries without progress: further kills would prove only that. */
const maxRecoveries = 3;

export async function runTrial(plan: TrialPlan, laboratory: Laboratory): Promise<TrialResult> {
  const folder = mkdtempSync(path.join(laboratory.folder, `${plan.name}-`));
  const trial = new KillTrial(plan, laboratory, folder);
  await trial.run();
  const result = trial.result();
  if (trial.passed) rmSync(folder, { recursive: true, force: true });
  return result;
}

class KillTrial {
  readonly #plan: TrialPlan;
  readonly #laboratory: Laboratory;
  readonly #folder: string;
  readonly #database: string;
  readonly #log: string;
  readonly #problems = new Map<string, string[]>();
  #remains = new Map<string, Remains>();
  #lines: Line[] = [];
  #kills = 0;
  #life = 0;
  #end: LifeEnd = { kind: "failed", problem: "no life has run" };

  constructor(plan: TrialPlan, laboratory: Laboratory, folder: string) {
    this.#plan = plan;
    this.#laboratory = laboratory;
    this.#folder = folder;
    this.#database = path.join(folder, "andante.db");
    this.#log = path.join(folder, "side.log");
    for (const scenario of plan.scenarios) this.#problems.set(idOf(scenario), []);
  }

  get passed(): boolean {
    return [...this.#problems.values()].every((problems) => problems.length === 0);
  }

  async run(): Promise<void> {
    for (const kill of this.#plan.kills) {
      await this.#liveOnce(kill);
      if (this.#end.kind === "killed") this.#kills++;
      if (this.#end.kind !== "killed" || !this.passed || this.#mayBeGivenUp()) break;
    }
    if (this.passed && this.#end.kind !== "done") {
      await this.#liveOnce({ kind: "none" });
      if (this.#end.kind === "killed")
        this.#blameAll("the last life was killed, though nobody was to kill it");
    }
    if (this.#end.kind === "done") this.#checkAll((evidence, scenario) => this.#checkEnd(evidence, scenario));
  }

  result(): TrialResult {
    const endings = new Map<string, Ending>();
    for (const scenario of this.#plan.scenarios) {
      const remains = this.#remains.get(idOf(scenario));
      if (remains !== undefined) endings.set(scenario, endingOf(remains, this.#linesOf(idOf(scenario))));
    }
    return {
      plan: this.#plan,
      kills: this.#kills,
      executions: this.#problems,
      endings,
      lastLife: this.#end,
      folder: this.#folder,
    };
  }

  async #liveOnce(kill: Kill): Promise<void> {
    const before = this.#remains;
    this.#life++;
    this.#end = await runLife({
      instructions: this.#instructions(kill),
      output: path.join(this.#folder, "output.log"),
    });
    this.#remains = await autopsy(this.#database, [...this.#problems.keys()]);
    this.#lines = readLines(this.#log);
    if (this.#end.kind === "failed") this.#blameAll(`life ${this.#life} ${this.#end.problem}`);
    this.#checkAll((evidence) => checkLife({ ...evidence, before: before.get(evidence.executionId) }));
  }

  #instructions(kill: Kill): Instructions {
    const executions = this.#plan.scenarios.map((scenario) => {
      const executionId = idOf(scenario);
      const lines = this.#linesOf(executionId);
      const shown = lines.filter((line) => line.kind === "event").map((line) => line.event.sequence ?? 0);
      return {
        executionId,
        scenario,
        exists: this.#remains.has(executionId),
        acknowledged: lines.some((line) => line.kind === "acknowledged"),
        after: Math.max(0, ...shown),
      };
    });
    const { seed, world } = this.#plan;
    return { database: this.#database, log: this.#log, life: this.#life, seed, world, kill, executions };
  }

  #checkAll(check: (evidence: Evidence, scenario: string) => string[]): void {
    for (const scenario of this.#plan.scenarios) {
      const executionId = idOf(scenario);
      const evidence: Evidence = {
        executionId,
        life: this.#life,
        before: undefined,
        after: this.#remains.get(executionId),
        lines: this.#linesOf(executionId),
      };
      this.#problems
        .get(executionId)
        ?.push(...check(evidence, scenario).map((each) => `life ${this.#life}: ${each}`));
    }
  }

  #checkEnd(evidence: Evidence, scenario: string): string[] {
    return checkEnd(evidence, this.#laboratory.endings.get(scenario));
  }

  #linesOf(executionId: string): Line[] {
    return this.#lines.filter((line) => line.executionId === executionId);
  }

  #mayBeGivenUp(): boolean {
    return [...this.#remains.values()].some(({ state }) => state.execution.recoveries >= maxRecoveries);
  }

  /** A life that goes wrong as a whole: every execution that has not ended is blamed. */
  #blameAll(problem: string): void {
    for (const [executionId, problems] of this.#problems) {
      if (this.#remains.get(executionId)?.state.execution.endAt == null) problems.push(problem);
    }
    if (this.passed) for (const problems of this.#problems.values()) problems.push(problem);
  }
}

/** The id of a scenario's execution. Ids are the same in every trial, so that values that hold them can be compared. */
export function idOf(scenario: string): string {
  return `${scenario}-1`;
}
