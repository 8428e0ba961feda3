// Ends an agent loop that cannot continue here: it is replayed later from its records.

/** Thrown through the AI SDK. `reason` is the error for the caller of the agent. */
export class LoopLeftError extends Error {
  readonly reason: unknown;
  /** False: the loop has failed, and so has its caller. */
  readonly isWalkedAgain: boolean;

  constructor(reason: unknown, isWalkedAgain = false) {
    super("The agent's calls stop here and are walked again later");
    this.name = "LoopLeftError";
    this.reason = reason;
    this.isWalkedAgain = isWalkedAgain;
  }
}
