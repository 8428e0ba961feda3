// A decision about one execution: pure, from its record and facts to changes and a result.
import type { Changes } from "./changes.ts";
import type { FactRequests, Facts } from "./facts.ts";
import type { ExecutionRecord } from "./record.ts";

export interface Decision<Argument, Result> {
  /** Requests every fact that `decide` uses. `record`: undefined when there is no such execution. */
  request?(argument: Argument, record: ExecutionRecord | undefined, requests: FactRequests): void;
  /** Changes the record and calls `changes`; a refusal calls nothing. */
  decide(argument: Argument, record: ExecutionRecord | undefined, facts: Facts, changes: Changes): Result;
}
