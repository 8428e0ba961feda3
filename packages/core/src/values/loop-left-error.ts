// Ends an agent loop that cannot continue here: it is replayed later from its records.

/** Thrown through the AI SDK. `reason` is the error for the caller of the agent. */
export class LoopLeftError extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("The agent's calls stop here and are walked again later");
    this.name = "LoopLeftError";
    this.reason = reason;
  }
}
