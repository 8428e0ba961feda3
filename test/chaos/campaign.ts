// A campaign: undisturbed runs first, then every boundary of every journal, then random kills until there are enough.

import { createRandom, type Random } from "../../packages/core/test/support/random.ts";
import type { Ending } from "./checks/ending.ts";
import { crashLoop, neighbour, runCrashLoop } from "./crash-loop.ts";
import { everyBoundary, randomKills, recoveryKills, type Span } from "./kills.ts";
import { idOf, type Laboratory, runTrial, type TrialPlan, type TrialResult } from "./trial.ts";

export interface CampaignOptions {
  /** At least this many kills. Every boundary is visited when there are 300 or more; else a part, chosen by the seed. */
  readonly kills: number;
  readonly seed: number;
  readonly scenarios: readonly string[];
  /** Instead of kills of its own choice: this trial alone, after the undisturbed runs. */
  readonly only: TrialPlan | undefined;
  readonly folder: string;
  /** Lives that run at once. */
  readonly workers: number;
  /** Called after each trial. */
  onResult(result: TrialResult, totals: Totals): void;
}

export interface Totals {
  readonly kills: number;
  /** Kills after which the campaign is at its end: known once the boundaries are counted. */
  readonly target: number;
  readonly executions: number;
  readonly passed: number;
  readonly failed: number;
}

/** From here on a campaign visits every boundary. */
const wholeSweep = 300;
/** Below that: the part of the kills that visits boundaries. A random trial kills more often for the same effort. */
const sweepShare = 0.2;
/** Further kills at random moments, as a part of the sweep. */
const randomShare = 0.25;
/** A campaign that finds this many failed trials stops: a stuck one alone costs 90 s. */
const maxFailedTrials = 20;

export async function runCampaign(options: CampaignOptions): Promise<Totals> {
  const campaign = new Campaign(options);
  return campaign.run();
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #random: Random;
  readonly #endings = new Map<string, Ending>();
  readonly #spans = new Map<string, Span>();
  #totals: Totals = { kills: 0, target: 0, executions: 0, passed: 0, failed: 0 };
  #failedTrials = 0;
  #target: number;

  constructor(options: CampaignOptions) {
    this.#options = options;
    this.#random = createRandom(options.seed);
    this.#target = options.kills;
  }

  async run(): Promise<Totals> {
    const { scenarios } = this.#options;
    const { only } = this.#options;
    await this.#runAll([
      { name: "undisturbed", scenarios: [...scenarios], seed: 1, world: "patient", kills: [] },
    ]);
    if (this.#failedTrials > 0) return this.#totals;
    if (only !== undefined) await this.#runAll([only]);
    else await this.#runAll(this.#trials());
    return this.#totals;
  }

  *#trials(): Generator<TrialPlan> {
    if (this.#options.scenarios.includes(neighbour)) yield crashLoop;
    yield* this.#sweep();
    yield* this.#randomTrials();
  }

  #laboratory(): Laboratory {
    return { folder: this.#options.folder, endings: this.#endings };
  }

  /** One trial for each boundary: a kill there, and one more life. */
  #sweep(): TrialPlan[] {
    const random = this.#random;
    const plans = this.#options.scenarios.flatMap((scenario) =>
      everyBoundary(this.#spans.get(scenario)?.writes ?? 0).map(
        (kill): TrialPlan => ({
          name: scenario,
          scenarios: [scenario],
          seed: random.integer(0, 2 ** 31),
          world: random.pick(["eager", "patient"]),
          kills: [kill],
        }),
      ),
    );
    if (this.#options.kills < wholeSweep) {
      const part = Math.ceil(this.#options.kills * sweepShare);
      return random.shuffle(plans).slice(0, part);
    }
    this.#target = Math.max(this.#target, Math.ceil(plans.length * (1 + randomShare)));
    return plans;
  }

  /** Trials with several kills each, of one scenario or of all at once, as long as kills are wanting. */
  *#randomTrials(): Generator<TrialPlan> {
    const random = this.#random;
    while (this.#totals.kills < this.#target) {
      const [first = "", ...others] = random.shuffle(this.#options.scenarios);
      const crowd = random.pick([true, false, false]);
      const scenarios = crowd ? [first, ...others] : [first];
      const wanting = Math.max(1, this.#target - this.#totals.kills);
      const choose = random.pick([randomKills, randomKills, recoveryKills]);
      yield {
        name: crowd ? "crowd" : first,
        scenarios,
        seed: random.integer(0, 2 ** 31),
        world: random.pick(["eager", "patient"]),
        kills: choose(random, this.#spanOf(scenarios), Math.min(wanting, random.integer(2, 6))),
      };
    }
  }

  /** How long a life with these scenarios is: they run beside each other, but write into one file. */
  #spanOf(scenarios: readonly string[]): Span {
    const spans = scenarios.map((scenario) => this.#spans.get(scenario)).filter((span) => span !== undefined);
    return {
      writes: spans.reduce((sum, span) => sum + span.writes, 0),
      moments: spans.reduce((sum, span) => sum + span.moments, 0),
      milliseconds: Math.max(...spans.map((span) => span.milliseconds)),
    };
  }

  async #runAll(plans: Iterable<TrialPlan>): Promise<void> {
    const iterator = plans[Symbol.iterator]();
    const work = async () => {
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        if (this.#failedTrials >= maxFailedTrials) return;
        const run = next.value === crashLoop ? runCrashLoop : runTrial;
        this.#take(await run(next.value, this.#laboratory()));
      }
    };
    await Promise.all(Array.from({ length: this.#options.workers }, work));
  }

  #take(result: TrialResult): void {
    const executions = [...result.executions.values()];
    const failed = executions.filter((problems) => problems.length > 0).length;
    if (failed > 0) this.#failedTrials++;
    this.#totals = {
      kills: this.#totals.kills + result.kills,
      target: this.#target,
      executions: this.#totals.executions + executions.length,
      passed: this.#totals.passed + executions.length - failed,
      failed: this.#totals.failed + failed,
    };
    if (result.plan.kills.length === 0 && failed === 0) this.#remember(result);
    this.#options.onResult(result, this.#totals);
  }

  /** The others are compared with an undisturbed run. */
  #remember({ endings, lastLife }: TrialResult): void {
    for (const [scenario, ending] of endings) {
      this.#endings.set(scenario, ending);
      if (lastLife.kind !== "done") continue;
      const { milliseconds, counts } = lastLife;
      this.#spans.set(scenario, { writes: 0, moments: 0, ...counts[idOf(scenario)], milliseconds });
    }
  }
}
