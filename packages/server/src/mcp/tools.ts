// The tools of the server: exposed workflows and agents with their schemas, and those of operators.
import { isObject } from "../is-object.ts";
import { agentInput, agentOutput, callAgent } from "./agent-tool.ts";
import type { McpCall } from "./call.ts";
import type { ExposedTool } from "./mcp-options.ts";
import { callOperatorTool, operatorTools } from "./operator-tools.ts";
import { protocolError, type Result, toolFailure } from "./results.ts";
import { callWorkflow } from "./workflow-tool.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Shown in place of a result while an execution waits for a person. */
const suspendedOutput: Fields = {
  type: "object",
  properties: {
    executionId: { type: "string" },
    status: { const: "suspended" },
    suspension: { type: "object" },
    decide: { type: "string" },
  },
  required: ["executionId", "status"],
};

/** The tools that the caller may call. */
export async function listTools(call: McpCall): Promise<Result> {
  const all = [...call.options.tools.values()];
  const own = async (kind: ExposedTool["kind"], action: string, idsOf: (id: string) => Fields) =>
    call.permission({ action }).visible(
      all.filter((tool) => tool.kind === kind),
      ({ id }) => idsOf(id),
    );
  const workflows = await own("workflow", "workflows.execute", (workflowId) => ({ workflowId }));
  const agents = await own("agent", "agents.text", (agentId) => ({ agentId }));
  const visible = new Set([...workflows, ...agents]);
  const described = await Promise.all(
    all.filter((tool) => visible.has(tool)).map((tool) => describe(call, tool)),
  );
  return { tools: [...described, ...(await operatorTools(call))] };
}

/** Calls a tool. Errors that a model can do something about are results; the others are errors of the protocol. */
export async function callTool(call: McpCall, params: Fields): Promise<Result> {
  const { ProtocolError, ProtocolErrorCode } = call.sdk;
  const { logger } = call.service;
  const { name, arguments: given = {} } = params;
  if (typeof name !== "string") throw new ProtocolError(ProtocolErrorCode.InvalidParams, "name: required");
  if (!isObject(given))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "arguments: expected an object");
  const tool = call.options.tools.get(name);
  try {
    if (tool?.kind === "workflow") return await callWorkflow(call, tool.id, given);
    if (tool?.kind === "agent") return await callAgent(call, tool.id, given);
    const result = await callOperatorTool(call, name, given);
    if (result !== undefined) return result;
  } catch (error) {
    return toolFailure(error, call.sdk, logger);
  }
  throw protocolError(
    new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`),
    call.sdk,
    logger,
  );
}

async function describe(call: McpCall, { kind, id, name }: ExposedTool): Promise<Fields> {
  const { andante } = call.service;
  if (kind === "agent") {
    const { name: title, purpose } = await andante.agents.read(id);
    const schemas = { inputSchema: agentInput, outputSchema: agentOutput };
    return describedAs(name, title, purpose, { ...schemas, _meta: { "andante/agentId": id } });
  }
  const { name: title, purpose, inputSchema, resultSchema } = andante.workflow(id);
  const outputSchema = outputOf(resultSchema);
  const schemas = { inputSchema: inputOf(inputSchema), ...(outputSchema && { outputSchema }) };
  return describedAs(name, title, purpose, { ...schemas, _meta: { "andante/workflowId": id } });
}

function describedAs(name: string, title: string, purpose: string, others: Fields): Fields {
  // Clients show a tool without a description to no model.
  return { name, title, description: purpose === "" ? `Runs ${title}` : purpose, ...others };
}

/** Arguments are an object: other input is their field `input`. */
function inputOf(schema: Fields): Fields {
  if (schema.type === "object") return schema;
  return { type: "object", properties: { input: hasReferences(schema) ? {} : schema }, required: ["input"] };
}

/** The result, or the place where the execution waits. None where a reference would lose its target. */
function outputOf(schema: Fields | null): Fields | undefined {
  if (schema === null || hasReferences(schema)) return undefined;
  const result =
    schema.type === "object"
      ? schema
      : { type: "object", properties: { result: schema }, required: ["result"] };
  return { type: "object", anyOf: [result, suspendedOutput] };
}

function hasReferences(schema: Fields): boolean {
  return JSON.stringify(schema).includes('"$ref"');
}
