// The calls of a message that wait for approval, with the words and the schema for the person who decides.
import { asSchema, getToolName, type ToolSet, type UIMessage } from "ai";
import { waitingCalls } from "../conversation/apply-tool-decisions.ts";
import { decisionSchema } from "../durable/call-waits.ts";
import type { ApprovalWait } from "./approval-waits.ts";

export async function waitsOf(message: UIMessage, tools: ToolSet): Promise<readonly ApprovalWait[]> {
  return Promise.all(
    waitingCalls(message).map(async (part) => {
      const toolName = getToolName(part);
      const schema = Object.hasOwn(tools, toolName) ? tools[toolName]?.inputSchema : undefined;
      const inputSchema = schema === undefined ? {} : { ...(await asSchema(schema).jsonSchema) };
      return {
        place: message.parts.indexOf(part),
        approvalId: part.approval.id,
        reason: `The tool ${toolName} needs approval`,
        data: JSON.stringify({ toolName, input: part.input }),
        resumeSchema: JSON.stringify(decisionSchema(inputSchema)),
      };
    }),
  );
}
