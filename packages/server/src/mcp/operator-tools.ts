// Tools for operators: the inbox, executions and schedules. Each is a row of the route table under an action of its own, such
// as `mcp.inbox_list`, beside the actions of the row.
import { BadRequestError } from "../errors/request-errors.ts";
import { rowOf } from "../exposed/inner-call.ts";
import type { Route, RouteContext } from "../route.ts";
import { resumeBody } from "../schemas/execution-schemas.ts";
import type { McpCall } from "./call.ts";
import { type Result, valueResult } from "./results.ts";

type Fields = Readonly<Record<string, unknown>>;
/** The parts of a request that the arguments of a tool become. */
interface Asked {
  readonly row: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Fields;
  readonly body?: Fields;
  /** In place of the handler of the row. */
  readonly handle?: (context: RouteContext) => unknown;
}

interface OperatorTool {
  readonly description: string;
  readonly properties: Fields;
  readonly required?: readonly string[];
  ask(given: Fields, call: McpCall): Asked | Promise<Asked>;
}

const text = (description: string) => ({ type: "string", description });
const limit = { type: "integer", minimum: 1, maximum: 100 };
const cursor = text("`nextCursor` of the page before");
const executionId = text("The id of an execution");
const scheduleId = text("The id of a schedule");

const tools: Readonly<Record<string, OperatorTool>> = {
  inbox_list: {
    description: "Lists what waits for a person: open suspensions of workflows and tool calls of chats",
    properties: { workflowId: text("Of one workflow"), limit, cursor },
    ask: (query) => ({ row: "getInbox", query }),
  },
  inbox_decide: {
    description:
      "Decides something of the inbox: resumes an execution or a tool with `resumeData`, or approves or denies a tool call of a chat with `approved`",
    properties: {
      executionId: text("Of a suspended execution"),
      conversationId: text("Of a chat"),
      suspensionId: text("The suspension, where there are several"),
      resumeData: { description: "Data that fit the resume schema of the suspension" },
      approvalId: text("The approval of a chat"),
      approved: { type: "boolean" },
      reason: text("Why"),
    },
    ask: decide,
  },
  execution_explain: {
    description: "Explains what an execution waits for, or how it ended",
    properties: { executionId },
    required: ["executionId"],
    ask: (given) => ({ row: "explainExecution", params: { executionId: textIn(given, "executionId") } }),
  },
  execution_list: {
    description: "Lists executions, newest first",
    properties: {
      workflowId: text("Of one workflow"),
      status: { enum: ["running", "suspended", "completed", "error", "cancelled"] },
      userId: text("Of one user"),
      tag: text("With this tag"),
      from: text("Started at this time or later, ISO 8601"),
      to: text("Started before this time, ISO 8601"),
      limit,
      cursor,
    },
    ask: (query) => ({ row: "listExecutions", query }),
  },
  schedule_list: {
    description: "Lists schedules",
    properties: { workflowId: text("Of one workflow"), limit, cursor },
    ask: (query) => ({ row: "listSchedules", query }),
  },
  schedule_pause: {
    description: "Pauses a schedule",
    properties: { scheduleId, reason: text("Why") },
    required: ["scheduleId"],
    ask: ({ scheduleId: id, ...body }) => ({ row: "pauseSchedule", params: scheduleIn(id), body }),
  },
  schedule_resume: {
    description: "Lets a paused schedule fire again",
    properties: { scheduleId },
    required: ["scheduleId"],
    ask: ({ scheduleId: id }) => ({ row: "resumeSchedule", params: scheduleIn(id) }),
  },
  schedule_trigger: {
    description: "Starts an execution of a schedule now",
    properties: { scheduleId },
    required: ["scheduleId"],
    ask: ({ scheduleId: id }) => ({ row: "triggerSchedule", params: scheduleIn(id) }),
  },
};

/** The actions of the tools, for `authorize`. */
export const operatorActions: readonly string[] = Object.keys(tools).map(actionOf);

/** Those that the caller may call, where the host has them. */
export async function operatorTools(call: McpCall): Promise<readonly Fields[]> {
  if (!call.options.operator) return [];
  const listed = await Promise.all(
    Object.entries(tools).map(async ([name, { description, properties, required = [] }]) => {
      const isAllowed = await call.may(actionOf(name), {});
      const inputSchema = { type: "object", properties, required, additionalProperties: false };
      return isAllowed ? [{ name, description, inputSchema }] : [];
    }),
  );
  return listed.flat();
}

/** Undefined where there is no such tool. */
export async function callOperatorTool(
  call: McpCall,
  name: string,
  given: Fields,
): Promise<Result | undefined> {
  const tool = call.options.operator && Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) return undefined;
  const unknown = Object.keys(given).find((field) => !Object.hasOwn(tool.properties, field));
  if (unknown !== undefined) throw new BadRequestError({ problem: `${unknown}: not an argument of ${name}` });
  const { row: operationId, params = {}, handle, ...request } = await tool.ask(given, call);
  const row = withAction(rowOf(operationId), actionOf(name));
  return valueResult(await call.perform(row, { params, ...request }, handle ?? row.handle));
}

function actionOf(name: string): string {
  return `mcp.${name}`;
}

function withAction(row: Route, action: string): Route {
  return { ...row, action, requires: [row.action, ...(row.requires ?? [])] };
}

function scheduleIn(id: unknown) {
  return { scheduleId: textIn({ scheduleId: id }, "scheduleId") };
}

function textIn(given: Fields, field: string): string {
  const value = given[field];
  if (typeof value === "string" && value !== "") return value;
  throw new BadRequestError({ problem: `${field}: expected a string` });
}

/** The row that decides: of an execution, of an approval or of a tool that waits in a chat. */
async function decide(given: Fields, call: McpCall): Promise<Asked> {
  const { suspensionId, resumeData, approvalId, approved, reason } = given;
  if (given.executionId !== undefined) {
    const id = textIn(given, "executionId");
    const found = await call.service.andante.idsOf(id);
    const params = { id: found?.workflowId ?? "", executionId: id };
    const options = suspensionId === undefined ? {} : { suspensionId };
    // The tool does not wait for the execution.
    const handle = async ({ andante, caller, body }: RouteContext) => {
      const { resumeData: data, options: how } = resumeBody().parse(body);
      await andante.startResume(params.id, id, data, { ...how, userId: caller.userId });
      return { executionId: id, resumed: true };
    };
    return { row: "resumeExecution", params, body: { resumeData, options }, handle };
  }
  const params = { conversationId: textIn(given, "conversationId") };
  if (approved !== undefined)
    return {
      row: "decideApproval",
      params,
      body: { approvalId, approved, ...(reason !== undefined && { reason }) },
    };
  return { row: "resumeTool", params, body: { suspensionId, resumeData } };
}
