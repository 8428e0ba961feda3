// One life of a process in a crash test: runs the execution until it ends or the process "crashes".
import { setImmediate as turn } from "node:timers/promises";
import type { Andante } from "../andante/andante.ts";
import { AndanteService } from "../andante/andante-service.ts";
import type { StartOptions } from "../execution/commands/start.ts";
import type { FoldOptions } from "../execution/engine/folds.ts";
import type { Logger } from "../observe/log/logger.ts";
import type { Store, Suspension } from "../store/store.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import { type CountRun, countedWorkflow } from "./counted-workflow.ts";
import type { CrashingStore } from "./crashing-store.ts";
import type { TestClock } from "./test-clock.ts";

/** A step that waits to be resumed. */
export interface WaitingStep {
  readonly stepPath: string;
  readonly reason: string;
  /** The data that the step passed to `suspend`; null without any. */
  readonly data: unknown;
}

/** The resume data for a step that waits; undefined leaves it to its deadline. */
export type ResumeWaitingStep = (step: WaitingStep) => unknown;

export interface LifeOptions {
  readonly workflow: WorkflowDefinition;
  readonly input: unknown;
  readonly start: StartOptions & { readonly executionId: string };
  readonly resume: ResumeWaitingStep;
  readonly count: CountRun;
  readonly timeout: number;
  readonly logger: Logger;
  readonly clock: TestClock;
  readonly folds: FoldOptions | undefined;
  /** The store that outlives the process. */
  readonly store: Store;
  /** The store as this process sees it. */
  readonly life: CrashingStore;
}

/** True when the execution has ended in this life; false when the process crashed, or took too long. */
export async function runLife(options: LifeOptions): Promise<boolean> {
  const { life, logger, clock } = options;
  // Bodies that outlive their process do not count.
  const workflow = countedWorkflow(options.workflow, (path) => {
    if (!life.crashed) options.count(path);
  });
  const { folds } = options;
  const andante = new AndanteService({ workflows: { workflow }, store: life.store, logger, clock }, folds);
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), options.timeout);
  const crashed = life.crash.then((): false => false);
  try {
    return await Promise.race([toTheEnd(andante, options), crashed, late.promise]);
  } catch (error) {
    if (life.crashed) return false;
    throw error;
  } finally {
    clearTimeout(timer);
    await andante.close({ grace: 0 });
    await life.bury();
  }
}

async function toTheEnd(andante: Andante, options: LifeOptions): Promise<true> {
  const { workflow, input, start } = options;
  const { executionId } = start;
  // The same start again returns the same execution, whichever process began it.
  const result = async () => (await andante.start(workflow.id, input, start)).result();
  for (let { status } = await result(); status === "suspended"; { status } = await result()) {
    const { suspensions = [] } = (await options.store.state(executionId)) ?? {};
    // The step has been resumed meanwhile, by its deadline.
    if (suspensions.length === 0) continue;
    const [waiting, resumeData] = findResumable(suspensions, options.resume);
    if (waiting !== undefined) {
      const { suspensionId } = waiting;
      await andante.resume(workflow.id, executionId, resumeData, { suspensionId });
    } else await letTimePass(suspensions, options);
  }
  return true;
}

function findResumable(
  suspensions: readonly Suspension[],
  resume: ResumeWaitingStep,
): readonly [Suspension?, unknown?] {
  for (const suspension of suspensions) {
    const { path, reason, data } = suspension;
    const given = resume({ stepPath: path ?? "", reason, data: data === null ? null : JSON.parse(data) });
    if (given !== undefined) return [suspension, given];
  }
  return [];
}

/** Without a resume: the earliest deadline passes, or an event comes that is on its way. */
async function letTimePass(suspensions: readonly Suspension[], options: LifeOptions): Promise<void> {
  const { clock, store, start, life } = options;
  const [first] = suspensions
    .filter(({ deadline }) => deadline !== null)
    .sort((a, b) => Number(a.deadline) - Number(b.deadline));
  const awaited = suspensions.find(({ awaits }) => awaits);
  if (first === undefined && awaited === undefined) {
    const paths = suspensions.map(({ path }) => path).join(", ");
    throw new Error(`The execution waits at ${paths}: give crashTest its resume data`);
  }
  if (first !== undefined) clock.advanceTo(Number(first.deadline));
  const waiting = first ?? awaited;
  const isOpen = async () =>
    (await store.state(start.executionId))?.suspensions.some(
      ({ suspensionId }) => suspensionId === waiting?.suspensionId,
    );
  for (let turns = 1; !life.crashed && (await isOpen()); turns++) {
    // A process that has crashed may have left the delivery to others, for a second.
    if (first === undefined && turns % 20 === 0) clock.advance(1000);
    await turn();
  }
}
