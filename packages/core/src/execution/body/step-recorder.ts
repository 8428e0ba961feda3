// Records the calls of the agent that an andAgent step asks, each as a checkpoint of the step's body.
import { overTimeIn } from "../../agent/durable/budget-waits.ts";
import { CallsWaitError, type CallWaits, RetryWaitError } from "../../agent/durable/call-waits.ts";
import type { Children } from "../../agent/durable/children.ts";
import type {
  CallDeferral,
  CallRecorder,
  EndedCall,
  RecordedCall,
  ToolCheckpoints,
} from "../../agent/durable/recorder.ts";
import { ModelBusyError } from "../../errors/index.ts";
import type { StepUsage } from "../../journal/events.ts";
import { toFailure } from "../../journal/failure.ts";
import { sumUsage } from "../../store/usage.ts";
import { toJson } from "../../values/json.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import { functionPath } from "../../values/step-path.ts";
import { checkOutput } from "../limits/limits.ts";
import { BodyRecords } from "./body-records.ts";
import type { BodyRun } from "./body-run.ts";
import { Checkpoints } from "./checkpoints.ts";
import type { CallSleep, CallSuspension, ControlFlowRequest } from "./control-flow-signal.ts";
import { DeferredCall } from "./deferred-call.ts";
import { awaitsOf } from "./event-waits.ts";

/** The end of the path of a call of a model, such as `ask#call[2]` or `ask#call[2].tool[0].call[0]`. */
const modelCall = /[#.]call\[\d+\]$/;

export interface BusyWaits {
  /** Milliseconds that a call may wait in all. */
  readonly maxWait: number;
  /** Until when a provider refuses calls with this error; undefined when it names no time. */
  refusedUntil(error: unknown, now: number): number | undefined;
}

export class StepRecorder implements CallRecorder {
  readonly #run: BodyRun;
  readonly #records: BodyRecords;
  readonly #waiting = new Map<string, CallSuspension>();
  readonly #sleeping = new Map<string, CallSleep>();
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

  /** How calls wait for a provider that is busy; undefined when they fail. */
  busy: BusyWaits | undefined;

  /** The wait is a timer of the store, and the body is not held in memory. */
  busyUntil(place: string, error: unknown): number | undefined {
    const { facts, command } = this.#run;
    const now = facts.clock.now();
    const until = this.busy?.refusedUntil(error, now);
    if (until === undefined || this.busy === undefined) return undefined;
    const path = this.pathOf(place);
    const known = facts.journal.checkpoints?.get(path);
    // Those of an earlier attempt of the step do not count.
    const counts = known?.stepAttempt === command.attempt ? known : undefined;
    const busy = new ModelBusyError({ retryAfter: Math.ceil((until - now) / 1000), cause: error });
    // Not the provider's own error, which the AI SDK would retry.
    if (until - (counts?.failingSince ?? now) > this.busy.maxWait) throw busy;
    const attempt = (counts?.failures ?? 0) + 1;
    const failure = toFailure(busy, path, attempt);
    this.#records.failed({ path, error: failure, attempt, retryAt: until });
    return until;
  }

  /** The resumes of the step's calls of models, those of sub-agents included. */
  *modelResumes(): Iterable<{ readonly suspensionId: string; readonly data: string }> {
    const { facts, command } = this.#run;
    for (const path of facts.journal.pathsInside(command.path)) {
      const { suspension, resumption } = facts.journal.get(path) ?? {};
      if (suspension === undefined || resumption === undefined || !modelCall.test(path)) continue;
      // Those of budgets over time have a gate of their own.
      if (overTimeIn(suspension.data) !== undefined) continue;
      yield { suspensionId: suspension.suspensionId, data: resumption.data };
    }
  }

  readonly waits: CallWaits = {
    resumedWith: (place) => this.#run.facts.journal.get(this.pathOf(place))?.resumption?.data,
    ended: (place) => {
      const { suspension, resumption } = this.#run.facts.journal.get(this.pathOf(place)) ?? {};
      const { suspensionId, data: asked } = suspension ?? {};
      return resumption && { ...resumption, suspensionId, asked };
    },
    wait: (place, { reason, data, resumeSchema, deadline = null, onDeadline, events, again = false }) => {
      const path = this.pathOf(place);
      const text = checkOutput(
        this.#run.facts.limits,
        toJson(data, `Suspend data of ${path}`) ?? "null",
        path,
      );
      const schema = resumeSchema === undefined ? null : JSON.stringify(resumeSchema);
      const after = onDeadline === undefined ? null : JSON.stringify(onDeadline);
      const awaits = events && awaitsOf(this.#run.facts, events, path);
      const wait = { path, reason, data: text, resumeSchema: schema, deadline, onDeadline: after, awaits };
      this.#waiting.set(path, { ...wait, again });
    },
    sleep: (place, until) => {
      const path = this.pathOf(place);
      this.#sleeping.set(path, { path, until });
    },
  };

  get children(): Children | undefined {
    return this.#run.facts.children;
  }

  checkpoints(place: string): ToolCheckpoints {
    const records = new BodyRecords(this.#run, {
      leave: (request) => this.#leaveTool(request),
      failsWith: (error, isFinal) => this.#records.failsWith(error, isFinal),
    });
    return new Checkpoints(this.#run, records, (id) => this.pathOf(`${place}.${id}`));
  }

  /** A tool leaves its loop, which then leaves the body. */
  #leaveTool(request: ControlFlowRequest): never {
    if (request.kind === "wait") throw new LoopLeftError(new RetryWaitError(request.until), true);
    try {
      return this.#records.leave(request);
    } catch (signal) {
      throw new LoopLeftError(signal, true);
    }
  }

  /** Ends the body for the reason for which the loop was left. */
  leave(reason: unknown): never {
    const calls = [...this.#waiting.values()];
    const sleeps = [...this.#sleeping.values()];
    if (reason instanceof RetryWaitError) {
      const { until } = reason;
      if (calls.length === 0) return this.#records.leave({ kind: "wait", until });
      // Calls beside the one that is tried again wait in the inbox meanwhile.
      sleeps.push({ path: this.#run.command.path, until });
    } else if (!(reason instanceof CallsWaitError)) throw reason;
    return this.#records.leave({ kind: "suspend-calls", calls, sleeps });
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
