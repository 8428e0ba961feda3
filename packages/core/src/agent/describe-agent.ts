// An agent as JSON, for lists and details.
import type { JSONSchema7, ToolSet } from "ai";
import type { JsonSchema } from "../values/schema.ts";
import type { ApprovalStatus } from "./call/approval-deadline.ts";
import type { AgentInfo } from "./call/callable-agent.ts";

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** Whether a person must allow its calls; `sometimes` where that is decided for each call. Absent: never. */
  readonly approval?: "always" | "sometimes";
}

/** An agent as lists show it. */
export interface AgentSummary {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  /** Provider and name of the model; null for an agent of the AI SDK, which does not reveal it. */
  readonly model: string | null;
  readonly tools: readonly AgentTool[];
  /** The ids of its sub-agents. */
  readonly subAgents: readonly string[];
  /** `running` while it replies to a caller in this process. */
  readonly status: "idle" | "running";
}

export interface AgentDetail extends AgentSummary {
  /** Null when they are made for each call, and for an agent of the AI SDK. */
  readonly instructions: string | null;
}

/** The JSON Schemas of tools, by their input schemas: anyone may list the agents, and a conversion takes long. */
export type ToolSchemas = WeakMap<object, PromiseLike<JSONSchema7> | JSONSchema7>;

export async function describeAgent(
  agent: AgentInfo,
  schemas: ToolSchemas,
): Promise<Omit<AgentDetail, "status">> {
  const { id, name, purpose, instructions, model } = agent;
  const subAgents = agent.subAgents.map((each) => each.id ?? "");
  const tools = Object.entries(agent.tools).filter(([name]) => !subAgents.includes(name));
  return {
    id,
    name,
    purpose,
    instructions,
    model,
    tools: await Promise.all(tools.map(([name, tool]) => describeTool(name, tool, agent, schemas))),
    subAgents,
  };
}

async function describeTool(
  name: string,
  tool: ToolSet[string],
  agent: AgentInfo,
  schemas: ToolSchemas,
): Promise<AgentTool> {
  const { inputSchema } = tool;
  const { asSchema } = await import("ai");
  const made = inputSchema && (schemas.get(inputSchema) ?? asSchema(inputSchema).jsonSchema);
  if (made !== undefined) schemas.set(inputSchema, made);
  const schema = await made;
  // A description may be a function of the call, and here there is no call.
  const description = typeof tool.description === "string" ? tool.description : "";
  const approval = approvalOf(name, tool, agent);
  return { name, description, inputSchema: { ...schema }, ...(approval && { approval }) };
}

/** The description of the host overrides that of the tool itself, as in a call. */
function approvalOf(
  name: string,
  { needsApproval }: ToolSet[string],
  { toolApproval }: AgentInfo,
): AgentTool["approval"] {
  if (typeof toolApproval === "function") return "sometimes";
  const set =
    toolApproval !== undefined && Object.hasOwn(toolApproval, name) ? toolApproval[name] : undefined;
  if (typeof set === "function") return "sometimes";
  if (set !== undefined) return isUserApproval(set) ? "always" : undefined;
  if (typeof needsApproval === "function") return "sometimes";
  return needsApproval === true ? "always" : undefined;
}

function isUserApproval(status: ApprovalStatus): boolean {
  return (typeof status === "object" ? status.type : status) === "user-approval";
}
