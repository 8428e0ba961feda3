// The turns of kept conversations in this process, by their executions: those that were begun here, and those that
// another process left and that continue here.
import type { BeginTurnResult } from "../../store/store.ts";
import { type KeptTurn, readTurnInput, type TurnInput } from "./kept-turn.ts";
import type {
  ExpiredApproval,
  ExpiredWait,
  LiveTurn,
  RunningTurn,
  TurnEnding,
  TurnExecutions,
  TurnHost,
  TurnToBegin,
  TurnWait,
} from "./turn-host.ts";

export interface KeptTurnsOptions {
  readonly agentIds: readonly string[];
  readonly executions: TurnExecutions;
  /** Makes the turn of an execution that began in another process, and lets it reply. */
  recover(turn: RunningTurn): KeptTurn;
  expire: TurnHost["expire"];
  look(): Promise<void>;
}

export class KeptTurns implements TurnHost {
  readonly #options: KeptTurnsOptions;
  readonly #turns = new Map<string, KeptTurn>();

  constructor(options: KeptTurnsOptions) {
    this.#options = options;
  }

  get agentIds(): readonly string[] {
    return this.#options.agentIds;
  }

  /** Begins the execution of a turn. */
  async begin(turn: KeptTurn, what: Omit<TurnToBegin, "executionId" | "input">): Promise<BeginTurnResult> {
    const { executionId } = turn;
    this.#turns.set(executionId, turn);
    let begun = false;
    try {
      const result = await this.#options.executions.begin({
        ...what,
        executionId,
        input: JSON.stringify(turn.input),
      });
      begun = result.kind === "begun";
      return result;
    } finally {
      if (!begun) this.#turns.delete(executionId);
    }
  }

  async run(running: RunningTurn): Promise<TurnWait | undefined> {
    const { executionId } = running;
    const known = this.#turns.get(executionId);
    let turn = known;
    // One that waited for a moment only was not released.
    if (turn === undefined || turn.isWaiting) {
      turn = this.#options.recover(running);
      this.#turns.set(executionId, turn);
      known?.runsAgain();
    }
    const mine = turn;
    void running.settled.then(() => {
      if (this.#turns.get(executionId) === mine) this.#turns.delete(executionId);
    });
    return turn.run(running);
  }

  /** The turn that runs or waits in a conversation, in this process or another. */
  liveIn(conversationId: string): Promise<LiveTurn | undefined> {
    return this.#options.executions.live(conversationId);
  }

  /** The message of the turn that runs or waits in a conversation, and since when its calls wait for a person. */
  async waitIn(
    conversationId: string,
  ): Promise<(Pick<TurnInput, "messageId"> & Pick<LiveTurn, "waitsSince">) | undefined> {
    const live = await this.liveIn(conversationId);
    return live && { messageId: readTurnInput(live.input).messageId, waitsSince: live.waitsSince };
  }

  has(executionId: string): boolean {
    return this.#turns.has(executionId);
  }

  /** Nothing happens when it is not here. */
  stop(executionId: string): void {
    this.#turns.get(executionId)?.stop();
  }

  expire(call: ExpiredApproval): Promise<ExpiredWait> {
    return this.#options.expire(call);
  }

  look(): Promise<void> {
    return this.#options.look();
  }

  async endingOf(executionId: string): Promise<TurnEnding> {
    const turn = this.#turns.get(executionId);
    if (turn === undefined) throw new TypeError(`the turn ${executionId} is not here`);
    return turn.ending();
  }
}
