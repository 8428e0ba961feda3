// The types that a typed client reads off `typeof app`: ids, inputs, results and resume data. For the compiler only.
import type { AnyAgent } from "../agent/call/any-agent.ts";
import type { AnyEvent } from "../event/define-event.ts";
import type { InferInput, InferResult, InferResume, InferStepId } from "../workflow/chain-types.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";

/** Events as they are registered; an event's own name counts, not its key. */
export type EventRecord = Readonly<Record<string, AnyEvent>>;

/** Agents as they are registered; an agent's own id counts, and the key of one that has none. */
export type AgentRecord = Readonly<Record<string, AnyAgent>>;

/**
 * Plain types, so that a client needs neither this package nor a schema library to read them. Those of a workflow are
 * written out, not named, so that an editor shows them resolved.
 */
export interface HostTypes<
  W extends Readonly<Record<string, WorkflowDefinition>>,
  A extends AgentRecord,
  E extends EventRecord = Record<never, never>,
> {
  readonly workflows: {
    readonly [Key in keyof W as W[Key]["id"]]: {
      readonly input: InferInput<W[Key]>;
      readonly result: InferResult<W[Key]>;
      readonly resume: InferResume<W[Key]>;
      readonly stepId: InferStepId<W[Key]>;
    };
  };
  /** The ids of the agents. */
  readonly agents: AgentIds<A>;
  /** The data of the events that callers send, by name. */
  readonly events: { readonly [Key in keyof E as E[Key]["name"]]: AcceptedData<E[Key]> };
}

type AcceptedData<E> = E extends { from(data: infer Accepts): unknown } ? Accepts : unknown;

type AgentIds<A extends AgentRecord> = { [Key in keyof A]: IdOf<A[Key], Key> }[keyof A] & string;

// An agent of the AI SDK may have an id and does not say so in its type: it counts as one that has none.
type IdOf<Agent, Key> = Agent extends { readonly id: infer Id extends string } ? Id : Key;
