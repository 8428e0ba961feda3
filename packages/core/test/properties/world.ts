// Everything outside of a random execution: answers, decisions, pauses, rewinds, cancels and the clock, chosen by a seed.
import type { Andante } from "../../src/andante/andante.ts";
import { AndanteError } from "../../src/errors/index.ts";
import type { StoredExecution, Suspension } from "../../src/store/store.ts";
import { CrashedError } from "../../src/test-kit/crashing-store.ts";
import { TestClock } from "../../src/test-kit/test-clock.ts";
import { containersOf, stepIdOf } from "../../src/values/step-path.ts";
import type { Random } from "../support/random.ts";
import { gateKey, opened } from "./build.ts";
import { editedInput } from "./talk.ts";
import { clientOutput } from "./talk-reference.ts";
import type { Tree } from "./tree.ts";

/** How much the world interferes. */
export interface Interference {
  readonly pauses: number;
  readonly rewinds: number;
  readonly cancels: boolean;
  /** The workflow has a timeout, and a pause may last longer: no time runs out meanwhile. */
  readonly timeout: boolean;
}

/** Long enough for everything that the world does, and shorter than a long pause. */
export const workflowTimeout = "1000h";

/** The id of the execution in the world. */
export interface Subject {
  readonly workflowId: string;
  readonly executionId: string;
  readonly treeAt: (path: string) => Tree | undefined;
}

/** Codes of errors that a command gets which came too late, or too early. */
const lateCodes = new Set([
  "not-suspended",
  "not-suspendable",
  "not-cancellable",
  "resume-target",
  "link-expired",
  "shutting-down",
]);

export class World {
  /** `asked`: the answer was lost in a crash. */
  cancel: "none" | "asked" | "done" = "none";
  readonly #random: Random;
  readonly #clock: TestClock;
  readonly #subject: Subject;
  #slow: (() => void)[] = [];
  #hanging = 0;
  #pauses: number;
  #rewinds: number;
  readonly #cancels: boolean;
  readonly #hasTimeout: boolean;

  constructor(random: Random, clock: TestClock, subject: Subject, interference: Interference) {
    this.#random = random;
    this.#clock = clock;
    this.#subject = subject;
    this.#pauses = interference.pauses;
    this.#rewinds = interference.rewinds;
    this.#cancels = interference.cancels;
    this.#hasTimeout = interference.timeout;
  }

  /** The keys of the events that it has sent. */
  readonly keys = new Set<string>();

  /** The links that bodies have made. */
  readonly links: string[] = [];

  /** Resolves when the world lets a slow function go on. */
  slow(): Promise<void> {
    return new Promise((resolve) => this.#slow.push(resolve));
  }

  async hangs(signal: AbortSignal): Promise<void> {
    this.#hanging++;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    this.#hanging--;
  }

  /** Ends every slow function: their process is over. */
  releaseAll(): void {
    for (const release of this.#slow.splice(0)) release();
  }

  /** Does one thing that is possible now. */
  async act(andante: Andante, state: StoredExecution): Promise<void> {
    const actions = [...this.#usual(andante, state), ...this.#interfering(andante, state)];
    try {
      await this.#random.pick(actions)?.();
    } catch (error) {
      const late = error instanceof AndanteError && lateCodes.has(error.code);
      if (!late && !(error instanceof CrashedError)) throw error;
    }
  }

  /** The events that an execution needs to end. */
  #usual(andante: Andante, { suspensions }: StoredExecution): (() => unknown)[] {
    const actions: (() => unknown)[] = [];
    const isDeadline = ({ deadline }: Suspension) => deadline !== null;
    if (this.#slow.length > 0) actions.push(() => this.#release());
    if (this.#hanging > 0 || suspensions.some(isDeadline)) actions.push(() => this.#clock.advance("1h"));
    for (const suspension of suspensions) {
      if (!isDeadline(suspension)) actions.push(() => this.#answer(andante, suspension));
    }
    return actions;
  }

  #interfering(andante: Andante, { execution, suspensions }: StoredExecution): (() => unknown)[] {
    const { workflowId, executionId } = this.#subject;
    const actions: (() => unknown)[] = [];
    if (this.#pauses > 0 && execution.status === "running" && this.#random.chance(0.15)) {
      actions.push(() => {
        this.#pauses--;
        return andante.suspend(workflowId, executionId);
      });
    }
    if (this.#cancels && this.cancel === "none" && this.#random.chance(0.02)) {
      actions.push(() => this.#cancel(andante));
    }
    // The newest is often for a step that does not wait yet, others for gates that are behind it.
    const link = this.#random.chance(0.5) ? this.links.at(-1) : this.#random.pick(this.links);
    if (link !== undefined && this.#random.chance(0.6)) actions.push(() => press(andante, link));
    const isPaused = suspensions.some(({ path }) => path === null);
    if (this.#hasTimeout && isPaused && this.#random.chance(0.5)) {
      actions.push(() => this.#clock.advance("2000h"));
    }
    const stepId = `s${this.#random.integer(0, Math.max(0, execution.stepIndex - 1))}`;
    const canRewind = execution.stepIndex > 0 && suspensions.length > 0 && !isNamed(suspensions, stepId);
    if (this.#rewinds > 0 && canRewind && this.#random.chance(0.3)) {
      actions.push(() => {
        this.#rewinds--;
        // Pinned to a suspension: a step of the same id inside a container may have begun to wait since the state was read.
        const suspensionId = suspensions.find(({ path }) => path !== null)?.suspensionId;
        // A body that went back has answered none of its suspensions.
        return andante.startResume(workflowId, executionId, { gate: -1 }, { stepId, suspensionId });
      });
    }
    return actions;
  }

  async #cancel(andante: Andante): Promise<void> {
    this.cancel = "asked";
    try {
      await andante.cancel(this.#subject.workflowId, this.#subject.executionId);
      this.cancel = "done";
    } catch (error) {
      if (error instanceof AndanteError && error.code === "not-cancellable") this.cancel = "none";
      throw error;
    }
  }

  /** Ends a gate by its event; sometimes the next one too, before it waits. */
  async #send(andante: Andante, { path, data }: Suspension): Promise<void> {
    const { executionId } = this.#subject;
    const { gate }: { gate: number } = JSON.parse(data ?? "null");
    const gates = this.#random.chance(0.3) ? [gate + 1, gate] : [gate];
    for (const each of gates) {
      const key = gateKey(executionId, path ?? "", each);
      this.keys.add(key);
      await andante.send(opened, { gate: each }, { key });
    }
  }

  #release(): void {
    const [release] = this.#slow.splice(this.#random.integer(0, this.#slow.length - 1), 1);
    release?.();
  }

  #answer(andante: Andante, suspension: Suspension): Promise<unknown> {
    const { workflowId, executionId, treeAt } = this.#subject;
    const { suspensionId } = suspension;
    if (suspension.awaits && this.#random.chance(0.7)) return this.#send(andante, suspension);
    return andante.startResume(workflowId, executionId, answerTo(treeAt, suspension), { suspensionId });
  }
}

async function press({ links }: Andante, url: string): Promise<void> {
  const token = url.slice(url.lastIndexOf("/") + 1);
  const { form } = await links.read(token);
  await links.decide(token, form);
}

/** The answer does not depend on when it is given: a person always decides the same about the same call. */
function answerTo(treeAt: Subject["treeAt"], { path, data }: Suspension): unknown {
  if (path === null) return undefined;
  const asked = JSON.parse(data ?? "null");
  if (!path.includes("#")) return asked;
  switch (asked.toolName) {
    case "approve":
      return { approved: true };
    case "edit":
      return { approved: true, input: editedInput };
    case "deny":
      return { approved: false, reason: "no" };
    case "client":
      return clientOutput(path);
  }
  const tree = treeAt(path);
  const more = tree?.kind === "agent" ? tree.budget?.more : undefined;
  if (more === "none") return { approved: false };
  return more === undefined ? { approved: true } : { approved: true, calls: more };
}

/** True when a resume that names this step finds a suspension. */
function isNamed(suspensions: readonly Suspension[], stepId: string): boolean {
  return suspensions.some(
    ({ path }) => path !== null && [path, ...containersOf(path)].some((each) => stepIdOf(each) === stepId),
  );
}

/** Time goes on between any two reads of it, as it does outside of tests; or it is frozen, and much falls due at once. */
export class TickingClock extends TestClock {
  readonly #random: Random;
  readonly #isTicking: boolean;
  #ticks = 0;

  constructor(random: Random, isTicking: boolean) {
    super();
    this.#random = random;
    this.#isTicking = isTicking;
  }

  override now(): number {
    if (this.#isTicking && this.#random.chance(0.1)) this.#ticks++;
    return super.now() + this.#ticks;
  }
}
