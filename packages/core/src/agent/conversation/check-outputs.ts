// Checks the outputs of client-side tools with the schemas of the tools.
import { asSchema, getToolName, isToolUIPart, type ToolSet, type UIMessage } from "ai";
import { InputValidationError } from "../../errors/index.ts";

/** Throws for an output of a client's tool that does not fit its schema; parts that `known` has were checked before. */
export async function checkOutputs(message: UIMessage, tools: ToolSet, known?: UIMessage): Promise<void> {
  for (const [index, part] of message.parts.entries()) {
    if (!isToolUIPart(part) || part.state !== "output-available" || part === known?.parts[index]) continue;
    const name = getToolName(part);
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (tool?.outputSchema === undefined || tool.execute !== undefined) continue;
    const result = await asSchema(tool.outputSchema).validate?.(part.output);
    if (result === undefined || result.success) continue;
    throw new InputValidationError({ detail: `input: the output of tool ${name} does not fit its schema` });
  }
}
