// The schema that types the `context` of a tool.
import type { Schema } from "../../values/schema.ts";
import type { OperationContext } from "./operation.ts";
import { plainSchema } from "./plain-schema.ts";

/** The `contextSchema` of a tool that wants its `context` typed: `tool({ contextSchema: operationContext, … })`. */
export const operationContext: Schema<unknown, OperationContext> = plainSchema<OperationContext>({
  type: "object",
});
