// The definitions that this process runs, and whether the journal of an execution fits them.
import { WorkflowNotFoundError } from "../../errors/index.ts";
import type { Journal } from "../../journal/journal.ts";
import type { ExecutionRow, Store } from "../../store/store.ts";
import type { Clock } from "../../values/clock.ts";
import { functionPath, iterationPath } from "../../values/step-path.ts";
import {
  type Fingerprint,
  findIncompatibility,
  fingerprintOf,
  outlineOf,
  readOutline,
} from "../../workflow/outline.ts";
import type { WorkflowDefinition } from "../../workflow/step.ts";

/** The part of an execution's row that names the definition it began with. */
type Defined = Pick<ExecutionRow, "workflowId" | "definition">;

export class Definitions {
  readonly #store: Store;
  readonly #workflows: ReadonlyMap<string, WorkflowDefinition>;
  readonly #clock: Pick<Clock, "now">;
  readonly #fingerprints = new Map<string, Fingerprint>();

  constructor(store: Store, workflows: ReadonlyMap<string, WorkflowDefinition>, clock: Pick<Clock, "now">) {
    this.#store = store;
    this.#clock = clock;
    this.#workflows = workflows;
    for (const workflow of workflows.values()) this.#fingerprints.set(workflow.id, fingerprintOf(workflow));
  }

  /** The registered workflows, by id. */
  get workflows(): ReadonlyMap<string, WorkflowDefinition> {
    return this.#workflows;
  }

  /** The registered workflow of this id, or the contract's 404. */
  workflow(workflowId: string): WorkflowDefinition {
    const workflow = this.#workflows.get(workflowId);
    if (workflow === undefined) throw new WorkflowNotFoundError({ workflowId });
    return workflow;
  }

  /** Makes them known to the store, and reconsiders executions that did not fit the ones before. */
  register(): Promise<void> {
    return this.#define(false);
  }

  /**
   * Reconsiders executions that began here with these definitions, and that a process with other ones has parked. Makes
   * the definitions known again: a failover may have lost them, and an execution without its outline fits any other one.
   */
  unparkOwn(): Promise<void> {
    return this.#define(true);
  }

  async #define(own: boolean): Promise<void> {
    const defined = [...this.#fingerprints].map(async ([workflowId, { definition, outline }]) => {
      await this.#store.define({ definition, outline, seen: { workflowId, at: this.#clock.now() } });
      await this.#store.unpark({ workflowId, definition, own });
    });
    await Promise.all(defined);
  }

  /** Gives a claim back, and keeps every process with the current definition from running the execution. */
  park(
    { executionId, workflowId }: Pick<ExecutionRow, "executionId" | "workflowId">,
    token: string,
    reason: string,
  ): Promise<void> {
    return this.#store.park({ executionId, token, reason, definition: this.current(workflowId) });
  }

  /** The hash of the workflow's current definition. */
  current(workflowId: string): string {
    const fingerprint = this.#fingerprints.get(workflowId);
    if (fingerprint === undefined) throw new TypeError(`the workflow ${workflowId} is not registered`);
    return fingerprint.definition;
  }

  /** True when the execution last ran with the current definition: then it fits any journal. */
  isCurrent({ workflowId, definition }: Defined): boolean {
    return definition === this.current(workflowId);
  }

  /** The first incompatible change among the steps that the journal has reached; undefined when it fits. */
  async incompatibility(row: Defined, journal: Journal): Promise<string | undefined> {
    // An execution from before definitions were kept is taken to fit: nothing is known against it.
    if (row.definition === null || this.isCurrent(row)) return undefined;
    const before = await this.#store.outline(row.definition);
    const workflow = this.#workflows.get(row.workflowId);
    if (before === undefined || workflow === undefined) return undefined;
    const current = outlineOf(workflow.steps);
    return findIncompatibility(readOutline(before), current, reachedPaths(journal), endedPaths(journal));
  }
}

function* reachedPaths(journal: Journal): Iterable<string> {
  // A step that a rewind leads to is known before it has started again.
  for (const [path, state] of journal.paths) if (state.started || state.outcome !== undefined) yield path;
  for (const paths of journal.parts.past?.reached.values() ?? []) yield* paths;
}

function* endedPaths(journal: Journal): Iterable<string> {
  for (const [path, { outcome, round }] of journal.paths) {
    if (outcome !== undefined) yield path;
    // The condition that led to the round that a loop is in.
    if (round !== undefined && round.number > 0)
      yield functionPath(iterationPath(path, round.number - 1), "condition");
  }
}
