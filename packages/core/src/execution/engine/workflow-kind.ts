// Executions of registered workflows.

import type { Outbox } from "../../delivery/outbox.ts";
import { DefinitionChangedError } from "../../errors/index.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { causeOf, origin } from "../../journal/failure.ts";
import type { Journal } from "../../journal/journal.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { Observation } from "../../observe/observation.ts";
import type { ClaimedExecution, ExecutionRow, Store } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";
import type { Changes } from "../stream/changes.ts";
import type { Feed } from "../stream/feed.ts";
import { callHooks, type HookSubject } from "./call-hooks.ts";
import type { Definitions } from "./definitions.ts";
import type { EngineKind, LoadableRow, RunRow } from "./engine-kind.ts";
import { failCrashLoop } from "./fail-crash-loop.ts";
import { type LoggedExecution, logFields } from "./log-fields.ts";
import type { Waiters } from "./waiters.ts";

export interface WorkflowKindParts {
  readonly store: Store;
  readonly definitions: Definitions;
  readonly feed: Feed;
  readonly changes: Changes;
  readonly waiters: Waiters;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observation: Observation;
  readonly outbox: Outbox | undefined;
}

export class WorkflowKind implements EngineKind {
  readonly name = "workflow";
  readonly noun = "execution";
  readonly takesSlot = true;
  readonly hasSpans = true;
  readonly isAddressable = true;
  readonly settlesAsleep = false;
  readonly keptFor = undefined;
  readonly store: Store;
  readonly #parts: WorkflowKindParts;

  constructor(parts: WorkflowKindParts) {
    this.#parts = parts;
    this.store = parts.store;
  }

  get claimable(): EngineKind["claimable"] {
    const { workflows } = this.#parts.definitions;
    return workflows.size === 0 ? undefined : { workflowIds: [...workflows.keys()] };
  }

  definition({ workflowId }: Pick<ExecutionRow, "workflowId">): WorkflowDefinition {
    return this.#parts.definitions.workflow(workflowId);
  }

  fits(row: LoadableRow, journal: Journal, token: string): boolean | Promise<boolean> {
    return this.#parts.definitions.isCurrent(row) || this.#adopt(row, journal, token);
  }

  /** To followers and hooks; a failure to the log, with its step. */
  publish(row: HookSubject, events: readonly JournalEvent[], stepIndex?: number): void {
    const { feed, changes, definitions, logger } = this.#parts;
    const { workflows } = definitions;
    feed.publish(row.executionId, events);
    if (changes.followed) changes.publish(row, events);
    reportFailure({ logger, workflows }, row, events, stepIndex);
    const hooks = workflows.get(row.workflowId)?.hooks;
    if (hooks !== undefined) callHooks(hooks, row, events, logger);
  }

  readonly expire = undefined;
  readonly park = (row: RunRow, token: string, reason: string): Promise<void> =>
    this.#parts.definitions.park(row, token, reason);

  /** A paused one starts nothing, so it crashes no process: it is loaded to go idle, and judged when it runs again. */
  async endCrashLoop(row: ClaimedExecution, token: string, recoveries: number): Promise<boolean> {
    if (row.paused) return false;
    const ended = await failCrashLoop(this.#parts, row, token, recoveries);
    if (ended === undefined) return true;
    this.publish(ended.row, ended.events, row.stepIndex);
    this.#parts.waiters.settle(row.executionId, ended.settlement);
    return true;
  }

  recovered({ workflowId }: Pick<ExecutionRow, "workflowId">): void {
    this.#parts.observation.recovered(workflowId);
  }

  released(): void {}

  /** The current definition becomes the execution's when it fits, and parks the execution when it does not. */
  async #adopt(row: LoadableRow, journal: Journal, token: string): Promise<boolean> {
    const { store, definitions, logger } = this.#parts;
    const { executionId, workflowId } = row;
    const change = await definitions.incompatibility(row, journal);
    if (change === undefined) {
      await store.adopt({ executionId, token, definition: definitions.current(workflowId) });
      return true;
    }
    const err = new DefinitionChangedError({ executionId, workflowId, change });
    await definitions.park(row, token, err.message);
    const stepPath = lastStarted(journal, row.stepIndex);
    const parked = "execution parked: its workflow has changed incompatibly";
    logger.error({ ...logFields(row), stepPath, err }, parked);
    return false;
  }
}

/** The top-level step that it has reached, as the journal names it: the current definition has other names. */
function lastStarted(journal: Journal, stepIndex: number): string | undefined {
  for (const [path, state] of journal.paths) {
    if (state.stepIndex === stepIndex && state.started && !path.includes("/")) return path;
  }
  return undefined;
}

interface ReportSources {
  readonly logger: Logger;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition>;
}

/**
 * Logs the failure of an execution: the one error line that operators search for. Does nothing unless the last of these
 * events is a failure. `stepIndex`: the top-level step that it has reached.
 */
function reportFailure(
  { logger, workflows }: ReportSources,
  execution: LoggedExecution,
  events: readonly JournalEvent[],
  stepIndex: number | undefined,
): void {
  const last = events.at(-1);
  if (last?.type !== "workflow-error") return;
  const failure = last.error;
  const { workflowId } = execution;
  // A failure without a step (a timeout of the execution, a limit) is logged with the step that was reached.
  const reached = stepIndex === undefined ? undefined : workflows.get(workflowId)?.steps[stepIndex]?.id;
  const stepPath = failure.step ?? reached;
  const attempt = failure[origin]?.attempt;
  const where = {
    ...(stepPath !== undefined && { stepPath }),
    ...(attempt !== undefined && { attempt }),
  };
  logger.error({ ...logFields(execution), ...where, err: causeOf(failure) }, "the execution failed");
}
