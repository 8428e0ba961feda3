// The world outside one execution: follows its events, answers its suspensions, pauses and cancels it.
import type { Andante, ExecutionEvent, ExecutionSuspension } from "@andante/core";
import { NotCancellableError, NotSuspendableError, NotSuspendedError } from "@andante/core/errors";
import type { Random } from "../../../packages/core/test/support/random.ts";
import type { ExecutionInstructions, WorldMood } from "../instructions.ts";
import { appendLine } from "../side-log.ts";
import { type Answer, callerContext, callerUserId, type Scenario } from "./scenario.ts";

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
    if (this.#starts()) {
      await andante.start(scenario.workflow.id, scenario.input, {
        executionId,
        userId: callerUserId,
        context: callerContext,
      });
      this.#acknowledge("start");
    }
    const attached = await andante.attach(scenario.workflow.id, executionId, execution.after);
    const looks: Promise<void>[] = [this.#look()];
    for await (const event of attached?.events ?? []) {
      appendLine(log, { kind: "event", life, executionId, event });
      looks.push(this.#look());
    }
    await Promise.all(looks);
  }

  /** A caller who never got an answer may start again with the same id, or may not: both must come to the same. */
  #starts(): boolean {
    const { execution, mood, random } = this.#options;
    if (!execution.exists) return true;
    return mood === "eager" && !execution.acknowledged && random.pick([true, false]);
  }

  /** Reads the state of the execution and acts on it. Events meanwhile make it read again. */
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
    const { andante, scenario, execution, random, mood } = this.#options;
    const { executionId } = execution;
    const { id } = scenario.workflow;
    const { status, suspensions = [] } = await andante.state(id, executionId);
    if (status !== "running" && status !== "suspended") return;
    const events = await this.#journal();
    if (startedAt(events, scenario.cancelAt)) return this.#cancel();
    if (status === "running" && startedAt(events, scenario.pauseAt) && !events.some(isPause)) {
      return this.#pause();
    }
    const answered = random.shuffle(suspensions).filter((suspension) => this.#answerTo(suspension));
    if (mood === "eager") await Promise.all(answered.map((suspension) => this.#resume(suspension)));
    // While a pause is open the execution does not come to rest by itself.
    const now = answered.find(isPauseView) ?? (isRest(events.at(-1)) ? answered[0] : undefined);
    if (mood === "patient" && now !== undefined) await this.#resume(now);
  }

  /** All of it: a page ends early where the events are long. */
  async #journal(): Promise<readonly ExecutionEvent[]> {
    const { andante, scenario, execution } = this.#options;
    const all: ExecutionEvent[] = [];
    for (;;) {
      const after = all.at(-1)?.sequence ?? 0;
      const page = await andante.events(scenario.workflow.id, execution.executionId, { after });
      if (page.length === 0) return all;
      all.push(...page);
    }
  }

  #answerTo(suspension: ExecutionSuspension): Answer | undefined {
    return isPauseView(suspension) ? { resumeData: undefined } : this.#options.scenario.answer?.(suspension);
  }

  async #resume(suspension: ExecutionSuspension): Promise<void> {
    const { andante, scenario, execution } = this.#options;
    const { suspensionId } = suspension;
    const { resumeData, ...target } = this.#answerTo(suspension) ?? { resumeData: undefined };
    await unlessLate(NotSuspendedError, async () => {
      const options = { suspensionId, ...target };
      await andante.startResume(scenario.workflow.id, execution.executionId, resumeData, options);
      this.#acknowledge("resume", suspensionId);
    });
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
  return (
    path !== undefined && events.some(({ type, stepPath }) => type === "step-start" && stepPath === path)
  );
}

function isPauseView({ stepPath }: ExecutionSuspension): boolean {
  return stepPath === undefined;
}

function isRest(newest: ExecutionEvent | undefined): boolean {
  return newest?.type === "workflow-suspended";
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
