// Records the calls of a turn's agent, and says in words for its caller why one cannot begin or be recorded.
import { ReplyStoppedError, ShuttingDownError } from "../../errors/index.ts";
import type { CallRecorder, EndedCall, RecordedCall } from "../durable/recorder.ts";
import { reasonOf } from "./kept-turn.ts";
import type { RunningTurn } from "./turn-host.ts";

export class TurnRecorder implements CallRecorder {
  readonly #turn: RunningTurn;
  readonly #onlyRecorded: boolean;
  /** Aborted when the reply is stopped. */
  readonly signal: AbortSignal;

  constructor(turn: RunningTurn, options: { readonly signal: AbortSignal; readonly onlyRecorded: boolean }) {
    this.#turn = turn;
    this.#onlyRecorded = options.onlyRecorded;
    this.signal = options.signal;
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

  read(place: string): RecordedCall | undefined {
    return this.#turn.recorder.read(place);
  }

  checkMayBegin(): void {
    if (this.#onlyRecorded) throw new ReplyStoppedError();
    try {
      this.#turn.recorder.checkMayBegin();
    } catch (reason) {
      throw this.#turn.interrupted ? new ShuttingDownError() : reason;
    }
  }

  async record(call: EndedCall): Promise<void> {
    try {
      await this.#turn.recorder.record(call);
    } catch (reason) {
      throw this.#turn.signal.aborted ? reasonOf(await this.#turn.settled) : reason;
    }
  }

  emit(type: string, data?: unknown): void {
    this.#turn.recorder.emit(type, data);
  }
}
