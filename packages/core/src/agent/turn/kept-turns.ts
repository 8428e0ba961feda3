// The turns of kept conversations in this process, by their executions: those that were begun here, and those that
// another process left and that continue here.
import type { BeginTurnResult } from "../../store/store.ts";
import type { KeptTurn } from "./kept-turn.ts";
import type { RunningTurn, TurnEnding, TurnExecutions, TurnHost, TurnToBegin } from "./turn-host.ts";

export interface KeptTurnsOptions {
  readonly agentIds: readonly string[];
  readonly executions: TurnExecutions;
  /** Makes the turn of an execution that began in another process, and lets it reply. */
  recover(turn: RunningTurn): KeptTurn;
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

  async run(running: RunningTurn): Promise<void> {
    const { executionId } = running;
    let turn = this.#turns.get(executionId);
    if (turn === undefined) {
      turn = this.#options.recover(running);
      this.#turns.set(executionId, turn);
    }
    const mine = turn;
    void running.settled.then(() => {
      if (this.#turns.get(executionId) === mine) this.#turns.delete(executionId);
    });
    return turn.run(running);
  }

  has(executionId: string): boolean {
    return this.#turns.has(executionId);
  }

  /** Nothing happens when it is not here. */
  stop(executionId: string): void {
    this.#turns.get(executionId)?.stop();
  }

  async endingOf(executionId: string): Promise<TurnEnding> {
    const turn = this.#turns.get(executionId);
    if (turn === undefined) throw new TypeError(`the turn ${executionId} is not here`);
    return turn.ending();
  }
}
