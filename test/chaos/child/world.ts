// The world outside one execution: follows its events, answers its suspensions, pauses and cancels it.
import {
  type Andante,
  type ExecutionEvent,
  NotCancellableError,
  NotSuspendableError,
  NotSuspendedError,
  type SuspensionView,
} from "@andante/core";
import type { ExecutionInstructions, WorldMood } from "../instructions.ts";
import type { Random } from "../random.ts";
import { appendLine } from "../side-log.ts";
import { callerContext, callerUserId, type Scenario } from "./scenario.ts";

export interface WorldOptions {
  readonly andante: Andante;
  readonly scenario: Scenario;
  readonly execution: ExecutionInstructions;
  readonly log: string;
  readonly life: number;
  readonly mood: WorldMood;
  readonly random: Random;
}

type Call = "start" | "resume" | "pause" | "cancel";

export class World {
  readonly #options: WorldOptions;
  #looking = false;
  #again = false;

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  /** Starts the execution unless an earlier life has, and follows it to its end. */
  async live(): Promise<void> {
    const { andante, scenario, execution, log, life } = this.#options;
    const { executionId } = execution;
    if (!execution.exists) {
      await andante.start(scenario.workflow.id, scenario.input, {
        executionId,
        userId: callerUserId,
        context: callerContext,
      });
      this.#acknowledge("start");
    }
    const { events } = await andante.attach(scenario.workflow.id, executionId, execution.after);
    const looks: Promise<void>[] = [this.#look()];
    for await (const event of events) {
      appendLine(log, { kind: "event", life, executionId, event });
      looks.push(this.#look());
    }
    await Promise.all(looks);
  }

  /** Looks how the execution stands and does what is called for. What happens meanwhile makes it look again. */
  async #look(): Promise<void> {
    this.#again = true;
    if (this.#looking || this.#options.mood === "away") return;
    this.#looking = true;
    try {
      while (this.#again) {
        this.#again = false;
        await this.#act();
      }
    } finally {
      this.#looking = false;
    }
  }

  async #act(): Promise<void> {
    const { andante, scenario, execution, random } = this.#options;
    const { executionId } = execution;
    const { id } = scenario.workflow;
    const { status, suspensions = [] } = await andante.state(id, executionId);
    if (status !== "running" && status !== "suspended") return;
    const events = await andante.events(id, executionId);
    if (startedAt(events, scenario.cancelAt)) return this.#cancel();
    if (status === "running" && startedAt(events, scenario.pauseAt) && !events.some(isPause)) {
      return this.#pause();
    }
    for (const suspension of random.shuffle(suspensions)) {
      if (await this.#answer(suspension, events.at(-1))) return;
    }
  }

  /** True when nothing more is to be answered before the execution has rested again. */
  async #answer(suspension: SuspensionView, newest: ExecutionEvent | undefined): Promise<boolean> {
    const { andante, scenario, execution, mood } = this.#options;
    const { suspensionId, stepPath } = suspension;
    const patient = mood === "patient" && stepPath !== undefined;
    if (patient && newest?.type !== "workflow-suspended") return true;
    const answer = stepPath === undefined ? { resumeData: undefined } : scenario.answer?.(suspension);
    if (answer === undefined) return false;
    const { resumeData, ...target } = answer;
    await unlessLate(NotSuspendedError, async () => {
      const options = { suspensionId, ...target };
      await andante.resumeAsync(scenario.workflow.id, execution.executionId, resumeData, options);
      this.#acknowledge("resume", suspensionId);
    });
    return patient;
  }

  async #pause(): Promise<void> {
    const { andante, scenario, execution } = this.#options;
    await unlessLate(NotSuspendableError, async () => {
      const { suspension } = await andante.suspend(scenario.workflow.id, execution.executionId);
      this.#acknowledge("pause", suspension.suspensionId);
    });
  }

  async #cancel(): Promise<void> {
    const { andante, scenario, execution } = this.#options;
    await unlessLate(NotCancellableError, async () => {
      await andante.cancel(scenario.workflow.id, execution.executionId);
      this.#acknowledge("cancel");
    });
  }

  #acknowledge(call: Call, suspensionId?: string): void {
    const { log, life, execution } = this.#options;
    const { executionId } = execution;
    appendLine(log, {
      kind: "acknowledged",
      life,
      executionId,
      call,
      ...(suspensionId !== undefined && { suspensionId }),
    });
  }
}

function startedAt(events: readonly ExecutionEvent[], path: string | undefined): boolean {
  return path !== undefined && events.some(({ type, stepPath }) => type === "step-start" && stepPath === path);
}

function isPause({ type, suspension }: ExecutionEvent): boolean {
  return type === "workflow-suspended" && Object(suspension).stepPath === undefined;
}

/** The execution may have gone on since the world looked: then the call is refused, and the next look knows more. */
async function unlessLate(
  refusal: abstract new (...options: never[]) => Error,
  call: () => Promise<void>,
): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof refusal)) throw error;
  }
}
