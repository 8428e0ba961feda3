// Checks the outputs of client-side tools with the schemas of the tools.
import { asSchema, getToolName, isToolUIPart, type ToolSet, type UIMessage } from "ai";
import { InputValidationError } from "../../errors/index.ts";
import { validate } from "../../values/schema.ts";
import { requestTries } from "../../values/within-limit.ts";

/** Throws for an output of a client's tool that does not fit its schema; parts that `known` has were checked before. */
export async function checkOutputs(message: UIMessage, tools: ToolSet, known?: UIMessage): Promise<void> {
  for (const [index, part] of message.parts.entries()) {
    if (!isToolUIPart(part) || part.state !== "output-available" || part === known?.parts[index]) continue;
    const name = getToolName(part);
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (tool?.outputSchema === undefined || tool.execute !== undefined) continue;
    if (await fits(tool.outputSchema, part.output)) continue;
    throw new InputValidationError({ detail: `input: the output of tool ${name} does not fit its schema` });
  }
}

/** The AI SDK's own way has no limit: 190 000 wrong elements of a list, 570 KB, took 1.5 s and 550 MB. */
async function fits(schema: NonNullable<ToolSet[string]["outputSchema"]>, output: unknown): Promise<boolean> {
  if ("~standard" in schema) return (await validate(schema, output, requestTries)).ok;
  const result = await asSchema(schema).validate?.(output);
  return result === undefined || result.success;
}
