// The events that a body waits for, and those that it sends.

import { DefinitionError, StepSchemaError } from "../../errors/index.ts";
import { type Awaits, placesOf, scopesOf } from "../../event/awaits.ts";
import { type AnyEvent, eventsIn, isEvent, type SendOptions } from "../../event/define-event.ts";
import type { NewSignal } from "../../store/signal-store.ts";
import { problemOfId } from "../../values/check-id.ts";
import { parseDuration } from "../../values/duration.ts";
import { toJson } from "../../values/json.ts";
import { validateOwn } from "../../values/schema.ts";
import { uuid } from "../../values/uuid.ts";
import type { EventWaitOptions } from "../../workflow/step-context.ts";
import { checkOutput } from "../limits/limits.ts";
import type { ExecutionFacts } from "./body-run.ts";

/** The parts of an execution that waits for events depend on. */
export type WaitFacts = Pick<ExecutionFacts, "clock" | "journal" | "target" | "startAt" | "cause" | "userId">;

/** The events that end a wait, as JSON text; undefined where none does. */
export function awaitsOf(
  { clock, journal, target, startAt, cause, userId }: WaitFacts,
  { event, key, since = "start" }: EventWaitOptions,
  path: string,
): string | undefined {
  const where = `Step ${path}`;
  if (event === undefined) {
    if (key === undefined) return undefined;
    throw new DefinitionError({ where, problem: "a key needs an event" });
  }
  const named = eventsIn(event, where);
  if (key !== undefined) checkKey(key, path);
  const from = sinceOf(since, cause?.sentAt ?? startAt, clock.now(), where);
  const events = named.map((each) => {
    const scopes = scopesOf(each, userId);
    if (scopes.length === 0)
      throw new DefinitionError({ where, problem: `the event ${each.name} needs an execution of a user` });
    const { after, not } = journal.takenOf(each.name, key ?? null);
    const first = Math.max(after, cause?.seq ?? 0);
    return { name: each.name, key: key ?? null, scopes, since: from, after: first, not };
  });
  const awaits: Awaits = { target, several: Array.isArray(event), events, keys: placesOf(events) };
  return JSON.stringify(awaits);
}

function sinceOf(since: unknown, start: number, now: number, where: string): number {
  if (since === "start") return start;
  return since === "now" ? now : now - parseDuration(since, `${where}, since`);
}

/** An event that a body sends. */
export function signalOf(
  { clock, limits, executionId, userId }: Pick<ExecutionFacts, "clock" | "limits" | "executionId" | "userId">,
  event: AnyEvent,
  data: unknown,
  { id, key }: Pick<SendOptions, "id" | "key">,
  path: string,
): NewSignal {
  if (!isEvent(event))
    throw new DefinitionError({
      where: `Step ${path}`,
      problem: "send: expected an event that defineEvent made",
    });
  const refuse = (detail: string) => new StepSchemaError({ path, subject: `event ${event.name}`, detail });
  const result = validateOwn(event.schema, data);
  if (result instanceof Promise) throw refuse("the schema must not be asynchronous");
  if (!result.ok) throw refuse(result.detail);
  const what = `Event ${event.name} of step ${path}`;
  const text = checkOutput(limits, toJson(result.value, what), what) ?? "null";
  const problem = id === undefined ? undefined : problemOfId(id);
  if (problem !== undefined) throw refuse(`id: ${problem}`);
  const made = key ?? event.keyOf(result.value);
  if (made !== undefined) checkKey(made, path);
  if (event.scope === "user" && userId === undefined) throw refuse("it needs an execution of a user");
  return {
    signalId: id ?? uuid(),
    scope: event.scope === "user" ? (userId ?? "") : "",
    name: event.name,
    key: made ?? null,
    data: text,
    userId: userId ?? null,
    sentBy: executionId,
    sentAt: clock.now(),
  };
}

function checkKey(key: unknown, path: string): void {
  const problem = problemOfId(key);
  if (problem !== undefined) throw new StepSchemaError({ path, subject: "event key", detail: problem });
}
