// Records the calls of the agent that an andAgent step asks, each as a checkpoint of the step's body.
import { CallsWaitError, type CallWaits } from "../../agent/durable/call-waits.ts";
import type { CallDeferral, CallRecorder, EndedCall, RecordedCall } from "../../agent/durable/recorder.ts";
import type { StepUsage } from "../../journal/events.ts";
import { sumUsage } from "../../store/usage.ts";
import { toJson } from "../../values/json.ts";
import { functionPath } from "../../values/step-path.ts";
import { checkOutput } from "../limits/limits.ts";
import type { BodyRecords } from "./body-records.ts";
import type { BodyRun } from "./body-run.ts";
import type { CallSuspension } from "./control-flow-signal.ts";
import { DeferredCall } from "./deferred-call.ts";

/** The end of the path of a call of a model, such as `ask#call[2]` or `ask#call[2].tool[0].call[0]`. */
const modelCall = /[#.]call\[\d+\]$/;

export class StepRecorder implements CallRecorder {
  readonly #run: BodyRun;
  readonly #records: BodyRecords;
  readonly #waiting = new Map<string, CallSuspension>();
  readonly emit: (type: string, data?: unknown) => void;

  constructor(run: BodyRun, records: BodyRecords, emit: (type: string, data?: unknown) => void) {
    this.#run = run;
    this.#records = records;
    this.emit = emit;
  }

  get executionId(): string {
    return this.#run.facts.executionId;
  }
  get attempt(): number {
    return this.#run.command.attempt;
  }
  get signal(): AbortSignal {
    return this.#run.scope.signal;
  }

  now(): number {
    return this.#run.facts.clock.now();
  }

  pathOf(place: string): string {
    return functionPath(this.#run.command.path, place);
  }

  get isEmpty(): boolean {
    return this.#run.facts.journal.checkpoints === undefined;
  }

  read(place: string): RecordedCall | undefined {
    const known = this.#records.read(this.pathOf(place));
    return known?.call && { call: known.call, output: known.output, usage: known.usage };
  }

  usedBelow(place: string): StepUsage | undefined {
    const { journal } = this.#run.facts;
    let total: StepUsage | null = null;
    for (const path of new Set(journal.pathsInside(`${this.pathOf(place)}.call`))) {
      const usage = journal.checkpoints?.get(path)?.usage;
      if (usage !== undefined) total = sumUsage(total, usage);
    }
    return total ?? undefined;
  }

  checkMayBegin(): void {
    this.#records.checkMayBegin();
  }

  async record({ place, ...ended }: EndedCall): Promise<void> {
    const path = this.pathOf(place);
    await this.#records.record({ path, attempt: 1, ...ended }, `Output of ${path}`);
  }

  failed(reason: unknown): void {
    this.#records.failsWith(reason, true);
  }

  /** For a body that ends with its agent's reply. */
  deferring(): CallDeferral {
    return new DeferredCall(this.#records, (place) => this.pathOf(place));
  }

  /** The resumes of the step's calls of models, those of sub-agents included. */
  *modelResumes(): Iterable<{ readonly suspensionId: string; readonly data: string }> {
    const { facts, command } = this.#run;
    for (const path of facts.journal.pathsInside(command.path)) {
      const { suspension, resumption } = facts.journal.get(path) ?? {};
      if (suspension === undefined || resumption === undefined || !modelCall.test(path)) continue;
      yield { suspensionId: suspension.suspensionId, data: resumption.data };
    }
  }

  readonly waits: CallWaits = {
    resumedWith: (place) => this.#run.facts.journal.get(this.pathOf(place))?.resumption?.data,
    wait: (place, { reason, data, resumeSchema, again = false }) => {
      const path = this.pathOf(place);
      const text = checkOutput(
        this.#run.facts.limits,
        toJson(data, `Suspend data of ${path}`) ?? "null",
        path,
      );
      const schema = resumeSchema === undefined ? null : JSON.stringify(resumeSchema);
      this.#waiting.set(path, { path, reason, data: text, resumeSchema: schema, again });
    },
  };

  /** Ends the body for the reason for which the loop was left. */
  leave(reason: unknown): never {
    if (!(reason instanceof CallsWaitError)) throw reason;
    return this.#records.leave({ kind: "suspend-calls", calls: [...this.#waiting.values()] });
  }

  /** The usage of all calls of the step, of earlier processes included; undefined without calls. */
  get usage(): StepUsage | undefined {
    const { facts, command } = this.#run;
    let total: StepUsage | null = null;
    for (const { usage } of facts.journal.checkpoints?.of(command.path) ?? []) {
      if (usage !== undefined) total = sumUsage(total, usage);
    }
    return total ?? undefined;
  }
}
