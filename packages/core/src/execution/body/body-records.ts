// The journal entries that one run of a body reads, and adds before it has ended.
import type { CheckpointState } from "../../journal/checkpoints.ts";
import { fromJson } from "../../values/json.ts";
import { checkOutput } from "../limits/limits.ts";
import type { AbortScope } from "./abort-scope.ts";
import type { BodyRun } from "./body-run.ts";
import type { DoneCheckpoint, FailedCheckpoint } from "./checkpoint-log.ts";
import type { ControlFlowRequest } from "./control-flow-signal.ts";

/** How a body ends without returning. */
export interface BodyExits {
  /** Ends the body by throwing. */
  leave(request: ControlFlowRequest): never;
  /** Work is done whose output cannot be recorded. `isFinal`: the body cannot catch the error. */
  failsWith(error: unknown, isFinal: boolean): void;
}

export class BodyRecords implements BodyExits {
  readonly #run: BodyRun;
  readonly leave: BodyExits["leave"];
  readonly failsWith: BodyExits["failsWith"];

  constructor(run: BodyRun, { leave, failsWith }: BodyExits) {
    this.#run = run;
    this.leave = leave;
    this.failsWith = failsWith;
  }

  /** The entry at this path; undefined without one. */
  read(path: string): CheckpointState | undefined {
    const known = this.#run.facts.journal.checkpoints?.get(path);
    return known?.recorded ? known : undefined;
  }

  /** Under a pause, and when the process stops, nothing begins: the body runs again later, over the record. */
  checkMayBegin(): void {
    const { scope, log } = this.#run;
    if (scope.closed) throw ended(scope);
    if (!log.startsWork) this.leave({ kind: "interrupt" });
  }

  /** Records it within the limit of outputs, with the next commit; resolves once that is made. */
  recordLater(done: DoneCheckpoint, what: string): Promise<void> {
    const { facts, command, log, scope, branch = scope } = this.#run;
    checkOutput(facts.limits, done.output, what);
    if (branch.closed) throw ended(branch);
    return log.checkpointDone(command, done, { later: true });
  }

  /** Records an attempt that failed, with another one to follow. An attempt of a body that no longer counts leaves none. */
  failed(checkpoint: FailedCheckpoint): void {
    const { command, log, scope } = this.#run;
    if (scope.closed) throw ended(scope);
    log.checkpointFailed(command, checkpoint);
  }

  /** Commits the entries that were recorded for later. */
  commit(): void {
    this.#run.log.commitCheckpoints();
  }

  /** Records it within the limit of outputs; resolves to its output once it is committed. */
  async record(done: DoneCheckpoint, what: string): Promise<unknown> {
    const { facts, command, log, scope, branch = scope } = this.#run;
    checkOutput(facts.limits, done.output, what);
    // Work that ended before the step's timeout is kept for its next attempt; a branch that lost has none.
    if (branch.closed) throw ended(branch);
    await log.checkpointDone(command, done);
    if (scope.closed) throw ended(scope);
    // The record wins: an earlier attempt of the step, whose time was up, may have been first.
    return fromJson(this.read(done.path)?.output ?? done.output);
  }
}

/** Why the work of the body does not count any more. Only the body receives it. */
function ended({ signal }: AbortScope): unknown {
  return signal.aborted ? signal.reason : new DOMException("The step has ended", "AbortError");
}
