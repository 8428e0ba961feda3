// What all shapes of requests and responses are made with: their names in the API description, and common fields.
import { z } from "zod";

/** A schema, or a part of some, that is made when it is first asked for. */
export type Shape<Made = z.ZodType> = () => Made;

const named = new Map<string, Shape>();

/** Makes it once. Most starts need none or few of them, and making them all took a tenth of a start. */
export function shape<Made extends object>(make: () => Made): Shape<Made> {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** The same with a name in the API description. */
export function component<Schema extends z.ZodType>(id: string, make: () => Schema): Shape<Schema> {
  const made = shape(make);
  named.set(id, made);
  return made;
}

/** Every shape that the API description gives a name. */
export const components = shape(() => {
  const registry: z.core.$ZodRegistry<{ id: string }> = z.registry();
  for (const [id, made] of named) registry.add(made(), { id });
  return registry;
});

export const timestamp = shape(() => z.iso.datetime());
export const jsonSchema = shape(() => z.record(z.string(), z.unknown()));
/** A caller may send null for "nothing given". */
export const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === null ? undefined : value), schema.optional());

/**
 * Any number of strings. A list with others in it has one problem, that of the first: Zod's own array makes one of each,
 * and 2.6 MB of them took 7 s.
 */
export const strings = () =>
  z
    .custom<string[]>(
      (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
      "Invalid input: expected an array of strings",
    )
    .meta({ type: "array", items: { type: "string" } });

/** Objects by name, each of any fields; one problem for all of them too. */
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

/** The options of a request: null, or null in the place of any of them, stands for "nothing given". */
export const optionsOf = <Fields extends z.ZodRawShape>(fields: Fields) => {
  const names = Object.keys(fields);
  return z.preprocess((value) => givenOptions(value, names), z.object(fields).partial().optional());
};

/** Only these are looked at: a caller may send any number of others. */
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
