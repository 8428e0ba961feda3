// Builders for schemas of requests and responses: lazy creation, names in the API description, and common fields.
import { z } from "zod";

/** A schema, or a part of one, that is created on first use. */
export type Shape<Made = z.ZodType> = () => Made;

const named = new Map<string, Shape>();

/** Creates it once, on first use. Most starts need few schemas, and creating all took a tenth of a start. */
export function shape<Made extends object>(make: () => Made): Shape<Made> {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** A lazy schema with a name in the API description. */
export function component<Schema extends z.ZodType>(id: string, make: () => Schema): Shape<Schema> {
  const made = shape(make);
  named.set(id, made);
  return made;
}

/** All named schemas of the API description. */
export const components = shape(() => {
  const registry: z.core.$ZodRegistry<{ id: string }> = z.registry();
  for (const [id, made] of named) registry.add(made(), { id });
  return registry;
});

export const timestamp = shape(() => z.iso.datetime());
export const jsonSchema = shape(() => z.record(z.string(), z.unknown()));
/** An optional value for which a caller may send null. */
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

/** Objects by name, each with any fields; also reports only the first problem. */
export const records = <Value>() =>
  z
    .custom<Record<string, Record<string, Value>>>(
      (value) => isRecord(value) && Object.values(value).every(isRecord),
      "Invalid input: expected an object of objects",
    )
    .meta({ type: "object", additionalProperties: { type: "object", additionalProperties: {} } });

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The options of a request: null, for the options or for any field, means not given. */
export const optionsOf = <Fields extends z.ZodRawShape>(fields: Fields) => {
  const names = Object.keys(fields);
  return z.preprocess((value) => givenOptions(value, names), z.object(fields).partial().optional());
};

/** Reads only the known names: a caller may send any number of others. */
function givenOptions(value: unknown, names: readonly string[]): unknown {
  if (value === null) return undefined;
  if (!isRecord(value)) return value;
  const given: [string, unknown][] = [];
  for (const name of names) {
    const option: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : null;
    if (option !== null) given.push([name, option]);
  }
  return Object.fromEntries(given);
}
