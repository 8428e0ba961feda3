// An object has the type of the schema that it was asked for with.
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Andante } from "../andante/andante.ts";
import type { JsonSchema, Schema } from "../values/schema.ts";

declare const andante: Andante;
declare const validatesOnly: StandardSchemaV1<{ n: number }>;
const schema = z.object({ at: z.coerce.date(), size: z.number().default(1) });
type Made = { at: Date; size: number };

test("of a library's schema it is the output of the schema", async () => {
  expectTypeOf(await andante.agents.object("writer", "count", schema)).toEqualTypeOf<Made>();
  for await (const part of await andante.agents.streamObject("writer", "count", schema)) {
    if (part.type === "object") expectTypeOf(part.object).toEqualTypeOf<Made>();
    if (part.type === "object-delta") expectTypeOf(part.object).toBeUnknown();
  }
});

test("of a JSON Schema it is unknown", async () => {
  expectTypeOf(await andante.agents.object("writer", "count", { type: "object" })).toBeUnknown();
  const either = schema as Schema | JsonSchema;
  expectTypeOf(await andante.agents.object("writer", "count", either)).toBeUnknown();
  for await (const part of await andante.agents.streamObject("writer", "count", { type: "object" })) {
    if (part.type === "object") expectTypeOf(part.object).toBeUnknown();
  }
});

test("any other schema is refused", () => {
  // @ts-expect-error a string is not a schema
  andante.agents.object("writer", "count", "object");
  // @ts-expect-error it cannot describe itself as JSON Schema
  andante.agents.object("writer", "count", validatesOnly);
});
