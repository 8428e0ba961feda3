// The events that start executions of a workflow, and those that cancel them.
import { DefinitionError } from "../errors/index.ts";
import { type AnyEvent, eventsIn } from "../event/define-event.ts";
import { checkKnownOptions, type KnownOptions } from "../values/check-options.ts";
import {
  innerSteps,
  type Step,
  type WorkflowCancelOn,
  type WorkflowDefinition,
  type WorkflowTrigger,
} from "./step.ts";

/** An event with data of this type. */
type EventOf<Data> = AnyEvent & { readonly "~data"?: () => Data };

/** An event starts an execution. */
export interface EventTrigger<Data = unknown, Input = unknown> {
  readonly event: EventOf<Data>;
  /** The input of the execution. Default: the data of the event. */
  input?(event: { readonly data: Data }): Input | Promise<Input>;
  /** Only where this returns true. Default: always. */
  if?(event: { readonly data: Data }): boolean | Promise<boolean>;
}

/** An event cancels the execution. */
export interface CancelTrigger<Input = unknown> {
  /** One, or several. */
  readonly event: AnyEvent | readonly AnyEvent[];
  /** Only events with this key; a function of the execution's input. Default: any of the name. */
  key?(execution: { readonly input: Input }): string;
}

const knownTrigger: KnownOptions<EventTrigger> = { event: true, input: true, if: true };
const knownCancel: KnownOptions<CancelTrigger> = { event: true, key: true };

export function readTriggers(
  on: WorkflowTrigger | readonly WorkflowTrigger[],
  workflow: string,
): readonly WorkflowTrigger[] {
  const where = `${workflow}, on`;
  const given: readonly WorkflowTrigger[] = Array.isArray(on) ? on : [on];
  for (const trigger of given) {
    checkKnownOptions(where, trigger, knownTrigger);
    for (const name of ["input", "if"] as const)
      if (trigger[name] !== undefined && typeof trigger[name] !== "function")
        throw new DefinitionError({ where, problem: `${name} must be a function` });
  }
  eventsIn(
    given.map(({ event }) => event),
    where,
  );
  return given;
}

export function readCancelOn(cancelOn: CancelTrigger, workflow: string): WorkflowCancelOn {
  const where = `${workflow}, cancelOn`;
  checkKnownOptions(where, cancelOn, knownCancel);
  const { event, key } = cancelOn;
  if (key !== undefined && typeof key !== "function")
    throw new DefinitionError({ where, problem: "key must be a function" });
  return { events: eventsIn(event, where), ...(key && { key }) };
}

/** The events that a workflow names. */
export function eventsOf({ on = [], cancelOn, steps }: WorkflowDefinition): readonly AnyEvent[] {
  return [...on.map(({ event }) => event), ...(cancelOn?.events ?? []), ...awaitedIn(steps)];
}

function awaitedIn(steps: readonly Step[]): readonly AnyEvent[] {
  return steps.flatMap((step) => [
    ...(step.type === "andWaitFor" ? step.events : []),
    ...innerSteps(step).flatMap(awaitedIn),
  ]);
}

/** Refuses two events of one name. */
export function registerEvents(
  events: Readonly<Record<string, AnyEvent>>,
  workflows: Iterable<WorkflowDefinition>,
): ReadonlyMap<string, AnyEvent> {
  const registered = new Map<string, AnyEvent>();
  const add = (event: AnyEvent, where: string) => {
    const [named] = eventsIn(event, where);
    if (named === undefined) return;
    const other = registered.get(named.name);
    if (other !== undefined && other !== named)
      throw new DefinitionError({ where, problem: `another event already has the name "${named.name}"` });
    registered.set(named.name, named);
  };
  for (const [key, event] of Object.entries(events)) add(event, `Event registered as "${key}"`);
  for (const workflow of workflows)
    for (const event of eventsOf(workflow)) add(event, `Workflow "${workflow.id}"`);
  return registered;
}
