// defineEvent: the name, the data and the key of an event that is sent to workflows from outside.
import { DefinitionError } from "../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../values/check-options.ts";
import type { Json } from "../values/json.ts";
import {
  checkSchema,
  plainSchema,
  type Schema,
  type SchemaInput,
  type SchemaOutput,
  toJsonSchema,
} from "../values/schema.ts";

/** Options of one event. */
export interface SendOptions {
  /** The id of the sender: an event with a known one is not sent again. Default: a new one. */
  readonly id?: string | undefined;
  /** Default: made by the `key` of the definition, else none. */
  readonly key?: string | undefined;
  /** Whose event it is: the user of executions that it starts. Required for an event with the scope `user`. */
  readonly userId?: string | undefined;
  /** Only waits and executions of this user, also for a shared event: for callers who see only their own. */
  readonly restrictTo?: string | undefined;
}

/** An event that is to be sent. */
export interface EventToSend extends SendOptions {
  /** A definition, or the name of a registered one. */
  readonly event: AnyEvent | string;
  readonly data: unknown;
}

export interface EventOptions<S extends Schema | undefined, Name extends string> {
  /** 1 to 100 letters, digits, `.`, `_` and `-`, such as `order.paid`. */
  readonly name: Name;
  /** Schema of the data. Default: anything. */
  readonly data?: S;
  /** The key by which waits find it. Default: none. */
  key?(event: { readonly data: SchemaOutput<S> }): string;
  /** `user`: it reaches only executions of the user that it is sent for. Default: `shared`. */
  readonly scope?: "shared" | "user";
}

/** Any event. */
export interface AnyEvent {
  readonly name: string;
  readonly schema: Schema;
  readonly scope: "shared" | "user";
  keyOf(data: unknown): string | undefined;
}

/** An event that `defineEvent` has made. `Accepts` is the data that senders pass, `Data` the data that workflows receive. */
export interface EventDefinition<Accepts = unknown, Data = unknown, Name extends string = string>
  extends AnyEvent {
  readonly name: Name;
  readonly "~data"?: () => Data;
  /** The event with this data, for `sendAll`. */
  from(data: Accepts, options?: SendOptions): EventToSend;
}

/** The data that workflows receive. */
export type EventData<E> = E extends { readonly "~data"?: () => infer Data } ? Data : unknown;

const knownOptions: KnownOptions<EventOptions<Schema, string>> = {
  name: true,
  data: true,
  key: true,
  scope: true,
};

const anything = plainSchema<unknown>({});

class DefinedEvent implements AnyEvent {
  readonly name: string;
  readonly schema: Schema;
  readonly scope: "shared" | "user";
  readonly #key: ((event: { readonly data: unknown }) => string) | undefined;

  constructor({ name, data = anything, key, scope = "shared" }: EventOptions<Schema | undefined, string>) {
    this.name = name;
    this.schema = data;
    this.scope = scope;
    this.#key = key;
  }

  keyOf(data: unknown): string | undefined {
    return this.#key?.({ data });
  }

  from(data: unknown, options: SendOptions = {}): EventToSend {
    return { ...options, event: this, data };
  }
}

/**
 * Defines an event: workflows start with it (`on`), wait for it (`andWaitFor`) or are cancelled by it (`cancelOn`), and
 * `andante.send` sends it.
 *
 * @example
 * ```ts
 * import { defineEvent } from "@andante/core";
 * import { z } from "zod";
 *
 * export const paid = defineEvent({
 *   name: "order.paid",
 *   data: z.object({ order: z.string(), amount: z.number() }),
 *   key: ({ data }) => data.order,
 * });
 * ```
 */
export function defineEvent<const Name extends string, S extends Schema | undefined = undefined>(
  options: EventOptions<S, Name>,
): EventDefinition<SchemaInput<S>, Json<SchemaOutput<S>>, Name>;
export function defineEvent(options: EventOptions<Schema | undefined, string>): EventDefinition {
  const where = `Event "${options?.name}"`;
  checkKnownOptions(options?.name === undefined ? "defineEvent" : where, options, knownOptions);
  const { name, data, key, scope } = options;
  if (typeof name !== "string" || !/^[\w.-]{1,100}$/.test(name) || /^\.+$/.test(name))
    throw new DefinitionError({ where, problem: "name: expected 1 to 100 letters, digits, . _ and -" });
  checkSchema(data, `${where}, data`);
  if (data !== undefined) toJsonSchema(data, "input", `${where}, data`);
  if (key !== undefined && typeof key !== "function")
    throw new DefinitionError({ where, problem: "key must be a function" });
  if (scope !== undefined && scope !== "shared" && scope !== "user")
    throw new DefinitionError({ where, problem: 'scope: expected "shared" or "user"' });
  return new DefinedEvent(options);
}

export function isEvent(value: unknown): value is AnyEvent {
  return value instanceof DefinedEvent;
}

/** Checks events that a definition names: one or several. */
export function eventsIn(value: unknown, where: string): readonly AnyEvent[] {
  const events: readonly unknown[] = Array.isArray(value) ? value : [value];
  const known = events.filter(isEvent);
  if (known.length === 0 || known.length < events.length)
    throw new DefinitionError({
      where,
      problem: "event: expected one that defineEvent has made, or several",
    });
  const names = new Set(known.map(({ name }) => name));
  if (names.size < known.length) throw new DefinitionError({ where, problem: "event: names one twice" });
  if (known.length > maxEvents)
    throw new DefinitionError({ where, problem: `event: expected at most ${maxEvents}` });
  return known;
}

/** Events that one wait or one workflow may name. */
const maxEvents = 20;
