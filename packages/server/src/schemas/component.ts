// What all shapes of requests and responses are made with: their names in the API description, and common fields.
import { z } from "zod";

/** Every shape that the API description gives a name. */
export const components: z.core.$ZodRegistry<{ id: string }> = z.registry();

/** Gives a shape its name in the API description. */
export function component<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  components.add(schema, { id });
  return schema;
}

export const timestamp = z.iso.datetime();
export const jsonSchema = z.record(z.string(), z.unknown());
/** A caller may send null for "nothing given". */
export const orNull = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === null ? undefined : value), schema.optional());
