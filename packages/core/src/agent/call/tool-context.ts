// Gives tools the operation that they run in, as the `context` of their execution options.
import { asSchema, type Tool, type ToolSet } from "ai";
import type { Operation } from "./operation.ts";

/** The same tools; their `context` is the operation, as far as their own schema accepts it. */
export function toolsWithin(tools: ToolSet, operation: Operation): ToolSet {
  return Object.fromEntries(Object.entries(tools).map(([name, each]) => [name, within(each, operation)]));
}

function within(given: ToolSet[string], operation: Operation): ToolSet[string] {
  const { execute, contextSchema } = given;
  if (execute === undefined) return given;
  // Without its schema: the AI SDK would validate a context of its own with it, and there is none.
  const { contextSchema: _, ...rest } = given;
  const bound: Pick<Tool, "execute"> = {
    execute: async (input, options) =>
      execute(input, { ...options, context: await accepted(contextSchema, operation) }),
  };
  return Object.assign({ ...rest }, bound) as ToolSet[string];
}

async function accepted(schema: ToolSet[string]["contextSchema"], operation: Operation): Promise<unknown> {
  if (schema === undefined) return operation;
  const result = await asSchema(schema).validate?.(operation);
  if (result === undefined) return operation;
  if (!result.success) throw result.error;
  return result.value;
}
