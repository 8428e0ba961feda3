// An agent as JSON: what lists and details show.
import type { ToolSet } from "ai";
import type { JsonSchema } from "../values/schema.ts";
import type { AgentInfo } from "./call/callable-agent.ts";

export interface AgentTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
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
  /** `running` while it replies to somebody in this process. */
  readonly status: "idle" | "running";
}

export interface AgentDetail extends AgentSummary {
  /** Null when they are made for each call, and for an agent of the AI SDK. */
  readonly instructions: string | null;
}

export async function describeAgent(agent: AgentInfo): Promise<Omit<AgentDetail, "status">> {
  const { id, name, purpose, instructions, model } = agent;
  const subAgents = agent.subAgents.map((each) => each.id ?? "");
  const tools = Object.entries(agent.tools).filter(([name]) => !subAgents.includes(name));
  return {
    id,
    name,
    purpose,
    instructions,
    model,
    tools: await Promise.all(tools.map(([name, tool]) => describeTool(name, tool))),
    subAgents,
  };
}

async function describeTool(name: string, tool: ToolSet[string]): Promise<AgentTool> {
  const { inputSchema } = tool;
  const schema = inputSchema === undefined ? {} : await (await import("ai")).asSchema(inputSchema).jsonSchema;
  // A description may be a function of the call, and here there is no call.
  const description = typeof tool.description === "string" ? tool.description : "";
  return { name, description, inputSchema: { ...schema } };
}
