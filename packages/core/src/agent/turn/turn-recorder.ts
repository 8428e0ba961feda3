// Records the calls of a turn's agent, and says in words for its caller why one cannot begin or be recorded.
import { OutputLimitError, ReplyStoppedError, ShuttingDownError } from "../../errors/index.ts";
import type { StepUsage } from "../../journal/events.ts";
import { sumUsage } from "../../store/usage.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import type { CallWaits } from "../durable/call-waits.ts";
import type { Children } from "../durable/children.ts";
import type {
  CallDeferral,
  CallRecorder,
  EndedCall,
  RecordedCall,
  ToolCheckpoints,
} from "../durable/recorder.ts";
import { reasonOf } from "./kept-turn.ts";
import type { RunningTurn } from "./turn-host.ts";

export interface TurnRecorderOptions {
  readonly signal: AbortSignal;
  readonly onlyRecorded: boolean;
  /** True when the turn ends right after its last call, independent of readers. */
  readonly endsAtOnce: boolean;
}

export class TurnRecorder implements CallRecorder {
  readonly #turn: RunningTurn;
  readonly #onlyRecorded: boolean;
  #unrecorded: StepUsage | undefined;
  /** Aborted when the reply is stopped. */
  readonly signal: AbortSignal;
  readonly deferral: CallDeferral | undefined;

  constructor(turn: RunningTurn, { signal, onlyRecorded, endsAtOnce }: TurnRecorderOptions) {
    this.#turn = turn;
    this.#onlyRecorded = onlyRecorded;
    this.signal = signal;
    this.deferral = endsAtOnce
      ? new TurnDeferral(turn.deferral, {
          notRecorded: (call, error) => this.#notRecorded(call, error),
          committing: (commit) => this.#committing(commit),
        })
      : undefined;
  }

  get executionId(): string {
    return this.#turn.executionId;
  }
  get attempt(): number {
    return this.#turn.recorder.attempt;
  }

  now(): number {
    return this.#turn.recorder.now();
  }

  pathOf(place: string): string {
    return this.#turn.recorder.pathOf(place);
  }

  get isEmpty(): boolean {
    return this.#turn.recorder.isEmpty;
  }

  read(place: string): RecordedCall | undefined {
    return this.#turn.recorder.read(place);
  }

  usedBelow(place: string): StepUsage | undefined {
    return this.#turn.recorder.usedBelow(place);
  }

  /** Approvals and outputs of clients end the reply, in the AI SDK's own way: the message asks for them. */
  get waits(): CallWaits | undefined {
    const { waits } = this.#turn.recorder;
    return waits && { ...waits, onlyTools: true };
  }

  get children(): Children | undefined {
    return this.#turn.recorder.children;
  }

  checkpoints(place: string): ToolCheckpoints {
    return new TurnCheckpoints(this.#turn, place);
  }

  checkMayBegin(): void {
    if (this.#onlyRecorded) throw new ReplyStoppedError();
    try {
      this.#turn.recorder.checkMayBegin();
    } catch (reason) {
      throw this.#turn.isInterrupted() ? new ShuttingDownError() : reason;
    }
  }

  record(call: EndedCall): Promise<void> {
    return this.#committing(
      this.#turn.recorder.record(call).catch((error) => this.#notRecorded(call, error)),
    );
  }

  /** Its provider counts it all the same. */
  #notRecorded({ usage }: EndedCall, error: unknown): never {
    if (error instanceof OutputLimitError && usage !== undefined)
      this.#unrecorded = sumUsage(this.#unrecorded ?? null, usage);
    throw error;
  }

  failed(reason: unknown): void {
    this.#turn.recorder.failed(reason);
  }

  get unrecorded(): StepUsage | undefined {
    return this.#unrecorded;
  }

  async #committing(commit: Promise<void>): Promise<void> {
    try {
      await commit;
    } catch (reason) {
      throw this.#turn.signal.aborted ? reasonOf(await this.#turn.settled) : reason;
    }
  }

  emit(type: string, data?: unknown): void {
    this.#turn.recorder.emit(type, data);
  }
}

// Classes, because V8 makes a new map for each object literal with a getter.

class TurnCheckpoints implements ToolCheckpoints {
  readonly #turn: RunningTurn;
  readonly #checkpoints: ToolCheckpoints;

  constructor(turn: RunningTurn, place: string) {
    this.#turn = turn;
    this.#checkpoints = turn.recorder.checkpoints(place);
  }

  run(...[id, work, options]: Parameters<ToolCheckpoints["run"]>): Promise<unknown> {
    return this.#checkpoints.run(id, work, options).catch((thrown: unknown) => {
      const stops = thrown instanceof LoopLeftError && this.#turn.isInterrupted();
      throw stops ? new LoopLeftError(new ShuttingDownError(), true) : thrown;
    });
  }

  get inside(): string | undefined {
    return this.#checkpoints.inside;
  }

  get settled(): Promise<void> | undefined {
    return this.#checkpoints.settled;
  }
}

interface DeferralResults {
  notRecorded(call: EndedCall, error: unknown): never;
  committing(commit: Promise<void>): Promise<void>;
}

class TurnDeferral implements CallDeferral {
  readonly #deferral: CallDeferral;
  readonly #results: DeferralResults;

  constructor(deferral: CallDeferral, results: DeferralResults) {
    this.#deferral = deferral;
    this.#results = results;
  }

  defer(call: EndedCall): void {
    try {
      this.#deferral.defer(call);
    } catch (error) {
      this.#results.notRecorded(call, error);
    }
  }

  get isDeferring(): boolean {
    return this.#deferral.isDeferring;
  }

  commit(): Promise<void> {
    return this.#results.committing(this.#deferral.commit());
  }
}
