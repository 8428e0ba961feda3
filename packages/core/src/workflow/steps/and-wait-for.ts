// andWaitFor: waits for an event from outside; its data is the step's output. A waiting execution holds no memory.
import { type AnyEvent, type EventData, eventsIn } from "../../event/define-event.ts";
import type { KnownOptions } from "../../values/check-options.ts";
import { parseDuration } from "../../values/duration.ts";
import { type JsonSchema, plainSchema, toJsonSchema } from "../../values/schema.ts";
import type { WaitForStep } from "../step.ts";
import type { DeadlineOptions, EventWaitOptions, FunctionContext } from "../step-context.ts";
import { type PassiveStepOptions, passiveStepOptions, stepBase } from "./step-options.ts";

/** The output of a wait: the data of its event; of several, the name of the one that came with its data. */
export type WaitOutput<E> = E extends readonly AnyEvent[]
  ? E[number] extends infer One
    ? One extends AnyEvent
      ? { readonly name: One["name"]; readonly data: EventData<One> }
      : never
    : never
  : EventData<E>;

interface KeyFunction<Data, Input> {
  key(context: FunctionContext<Data, Input>): string | Promise<string>;
}

export interface WaitForOptions<Data, Input, E extends AnyEvent | readonly AnyEvent[], Timeout>
  extends PassiveStepOptions,
    Pick<DeadlineOptions, "deadline">,
    Pick<EventWaitOptions, "since"> {
  /** One, or several of which the first to come counts. */
  readonly event: E;
  /** Only events with this key; or a function of the data. Default: any of the name. */
  readonly key?: string | KeyFunction<Data, Input>["key"];
  /** At the deadline: the output, the step fails, or the execution is cancelled. Default: `fail`. */
  readonly onDeadline?: { readonly resume: Timeout } | "fail" | "cancel";
}

const knownOptions: KnownOptions<WaitForOptions<unknown, unknown, AnyEvent, unknown>> = {
  ...passiveStepOptions,
  event: true,
  key: true,
  since: true,
  deadline: true,
  onDeadline: true,
};

export function waitForStep(
  options: WaitForOptions<unknown, unknown, AnyEvent | readonly AnyEvent[], unknown>,
): WaitForStep {
  const base = stepBase(options, "andWaitFor", knownOptions);
  const where = `andWaitFor "${base.id}"`;
  const { event, key, since, deadline, onDeadline } = options;
  const events = eventsIn(event, where);
  if (deadline !== undefined && !(deadline instanceof Date)) parseDuration(deadline, `${where}, deadline`);
  if (since !== undefined && since !== "start" && since !== "now") parseDuration(since, `${where}, since`);
  const how = {
    ...(since !== undefined && { since }),
    ...(deadline !== undefined && { deadline }),
    ...(onDeadline !== undefined && { onDeadline }),
  };
  const reason = `Waiting for ${events.map(({ name }) => name).join(" or ")}`;
  return {
    ...base,
    type: "andWaitFor",
    events,
    resumeSchema: plainSchema(schemaOf(event, where)),
    execute: async (context) => {
      if (context.resumeData !== undefined) return context.resumeData;
      const made = typeof key === "function" ? await key(context) : key;
      return context.suspend(reason, undefined, { ...how, event, ...(made !== undefined && { key: made }) });
    },
  };
}

/** For people who resume it in place of an event. */
function schemaOf(event: AnyEvent | readonly AnyEvent[], where: string): JsonSchema {
  const of = (each: AnyEvent) => toJsonSchema(each.schema, "output", where);
  if (!Array.isArray(event)) return eventsIn(event, where).map(of)[0] ?? {};
  const names = eventsIn(event, where).map(({ name }) => name);
  return {
    type: "object",
    properties: { name: { enum: names }, data: {} },
    required: ["name", "data"],
    additionalProperties: false,
  };
}
