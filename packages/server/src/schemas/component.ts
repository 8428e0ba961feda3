// The building blocks of all schemas of requests and responses: names in the API description, and common fields.
import { z } from "zod";
import { isObject } from "../is-object.ts";

/** A schema, or a part of one, that is made on its first use. */
export type Shape<Made = z.ZodType> = () => Made;

/** The type of the values that a schema describes. */
export type Value<S extends Shape> = z.output<ReturnType<S>>;

/**
 * Makes it once, on its first use. A start needs few of them: making all took 45 ms of processor time, an eighth of a
 * start of 360 ms.
 */
export function shape<Made extends object>(make: () => Made): Shape<Made> {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** A lazy schema with a name in the API description. */
export interface Component<Schema extends z.ZodType = z.ZodType> extends Shape<Schema> {
  readonly id: string;
}

/** Its module exports it: `components` finds it there. */
export function component<Schema extends z.ZodType>(id: string, make: () => Schema): Component<Schema> {
  return Object.assign(shape(make), { id });
}

export const timestamp = shape(() => z.iso.datetime());
/** The place and the length of a page of a list. */
export const page = shape(() => ({
  cursor: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(500).optional(),
}));
export const jsonSchema = shape(() => z.record(z.string(), z.unknown()));
/** An optional value, which a caller may also leave out by null. */
export const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === null ? undefined : value), schema.optional());

/**
 * An array of strings that reports only the first wrong element: Zod's own array reports each, which took 7 s for 2.6
 * MB.
 */
export const strings = () =>
  z
    .custom<string[]>(
      (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
      "Invalid input: expected an array of strings",
    )
    .meta({ type: "array", items: { type: "string" } });

const kindOf = (value: unknown) => (Array.isArray(value) ? "array" : value === null ? "null" : typeof value);

/**
 * An object with any fields, as it is: Zod's own record copies it, which took 0.6 s for 390 000 fields. Like Zod's, it has
 * no field `__proto__`, and its message.
 */
export const fields = () =>
  z
    .custom<Record<string, unknown>>(
      (value) => {
        if (!isObject(value)) return false;
        if (Object.hasOwn(value, "__proto__")) Reflect.deleteProperty(value, "__proto__");
        return true;
      },
      { error: ({ input }) => `Invalid input: expected record, received ${kindOf(input)}` },
    )
    .meta({ type: "object", propertyNames: { type: "string" }, additionalProperties: {} });

/** Objects by name, each with any fields; one problem for all of them too. */
export const records = <Value>() =>
  z
    .custom<Record<string, Record<string, Value>>>(
      (value) => isObject(value) && Object.values(value).every(isObject),
      "Invalid input: expected an object of objects",
    )
    .meta({ type: "object", additionalProperties: { type: "object", additionalProperties: {} } });

/** The options of a request. Null, as a whole or for one of them, counts as absent. */
export const optionsOf = <Fields extends z.ZodRawShape>(fields: Fields) => {
  const names = Object.keys(fields);
  return z.preprocess((value) => givenOptions(value, names), z.object(fields).partial().optional());
};

/** Reads only these names: a caller may send any number of others. */
function givenOptions(value: unknown, names: readonly string[]): unknown {
  if (value === null) return undefined;
  if (!isObject(value)) return value;
  const given: [string, unknown][] = [];
  for (const name of names) {
    const option: unknown = Object.hasOwn(value, name) ? value[name] : null;
    if (option !== null) given.push([name, option]);
  }
  return Object.fromEntries(given);
}
