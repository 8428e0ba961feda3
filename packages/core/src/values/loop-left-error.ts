// What ends a loop that cannot continue here: it is walked again later, over what is recorded.

/** Thrown through the AI SDK. `reason` is what whoever asked the agent gets. */
export class LoopLeftError extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("The agent's calls stop here and are walked again later");
    this.name = "LoopLeftError";
    this.reason = reason;
  }
}
