// An example value for a JSON Schema: what a ready-made call in the documentation sends.
import type { JSONValue } from "@ai-sdk/provider";
import { fillSchema } from "./fill.ts";
import { readHints } from "./hints.ts";

/** A plausible value that fits the schema. The same schema gives the same value. */
export function exampleFor(schema: unknown): JSONValue {
  const asked = {
    message: "Write about walking",
    system: "",
    earlier: [],
    files: [],
    tools: [],
    denied: false,
  };
  return fillSchema({ schema, hints: readHints(asked), optional: "all" });
}
