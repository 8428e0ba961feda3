// The events that end a suspension or cancel an execution, as its row keeps them.
import { matchKey } from "./match-key.ts";

/** The place where an event and a wait meet. */
export type EventPlace = readonly [scope: string, name: string, matchKey: string];

/** An event that a wait takes. */
export interface AwaitedEvent {
  readonly name: string;
  /** Null for any. */
  readonly key: string | null;
  /** Scopes of the event: shared ("") or a user. */
  readonly scopes: readonly string[];
  /** Sent at this time or later. */
  readonly since: number;
  /** With a higher number. */
  readonly after: number;
  /** Not these: the execution has taken them. */
  readonly not: readonly number[];
}

export interface Awaits {
  /** See `targetOf`. */
  readonly target: string;
  /** The data of the resume name the event. */
  readonly several: boolean;
  readonly events: readonly AwaitedEvent[];
  /** The places of all, which the store finds the wait by. */
  readonly keys: readonly EventPlace[];
}

export function placesOf(
  events: readonly Pick<AwaitedEvent, "scopes" | "name" | "key">[],
): readonly EventPlace[] {
  return events.flatMap(({ scopes, name, key }) =>
    scopes.map((scope): EventPlace => [scope, name, matchKey(key)]),
  );
}

/** Events of the shared scope reach executions of any user; those of a user reach only the user's own. */
export function scopesOf(event: { readonly scope: "shared" | "user" }, userId: string | undefined): string[] {
  const own = userId === undefined ? [] : [userId];
  return event.scope === "user" ? own : ["", ...own];
}

export function readAwaits(text: string): Awaits {
  const awaits: Awaits = JSON.parse(text);
  return awaits;
}

/** The value with which an event resumes a wait, as JSON text. */
export function resumeDataOf({ several }: Pick<Awaits, "several">, name: string, data: string): string {
  return several ? `{"name":${JSON.stringify(name)},"data":${data}}` : data;
}
