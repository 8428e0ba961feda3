// Gives tools the operation that they run in, as the `context` of their execution options.
import { asSchema, type Tool, type ToolSet } from "ai";
import type { Operation } from "./operation.ts";
import { ToolOperation } from "./tool-operation.ts";

/** The same tools; their `context` is the operation, as far as their own schema accepts it. */
export function toolsWithin(tools: ToolSet, operation: Operation): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, each]) => [name, within(name, each, operation)]),
  );
}

function within(name: string, given: ToolSet[string], operation: Operation): ToolSet[string] {
  const { execute, contextSchema } = given;
  if (execute === undefined) return given;
  // Without its schema: the AI SDK would validate a context of its own with it, and there is none.
  const { contextSchema: _, ...rest } = given;
  const bound: Pick<Tool, "execute"> = {
    execute: async (input, options) => {
      const run = async (inside: Operation) =>
        execute(input, { ...options, context: await accepted(contextSchema, inside) });
      const call = operation.loop?.toolCall(options.toolCallId, name);
      return call === undefined ? run(operation) : call.run(() => run(new ToolOperation(operation, call)));
    },
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
