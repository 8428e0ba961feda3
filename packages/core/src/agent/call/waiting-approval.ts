// Which tool calls a person must approve, where an execution can wait for that: the AI SDK's own way ends the reply.
import type { ModelMessage, ToolApprovalConfiguration, ToolSet } from "ai";
import type { Context } from "./any-agent.ts";
import type { Operation } from "./operation.ts";

type Approval = ToolApprovalConfiguration<ToolSet, Context>;
type Status = Awaited<ReturnType<Extract<Approval, (...given: never[]) => unknown>>>;

/** The host's function for one tool, whose types are that tool's. */
type DecideOne = (input: unknown, options: object) => Status | PromiseLike<Status>;

interface Call {
  readonly toolCall: { readonly toolName: string; readonly toolCallId: string; readonly input: unknown };
  readonly messages: ModelMessage[];
  readonly runtimeContext: Context;
}

/** The host's contexts of tools, by their names; the operation is that of any other. */
type ToolsContext = Readonly<Record<string, unknown>> | undefined;

/** Decides as the AI SDK does; a call that a person must approve is noted and let through to where it waits. */
export function waitingApproval(
  given: Approval | undefined,
  tools: ToolSet,
  operation: Operation,
  toolsContext?: ToolsContext,
): Approval {
  return async (options) => {
    const status =
      typeof given === "function"
        ? await given(options)
        : await decide(given, tools, options, { operation, toolsContext });
    const { type, reason } = typeof status === "object" ? status : { type: status, reason: undefined };
    if (type !== "user-approval") return status;
    const { toolCallId, toolName } = options.toolCall;
    operation.loop
      ?.toolCall(toolCallId, toolName)
      .mustBeApproved(reason, operation.deadlines.get(toolCallId));
    return "not-applicable";
  };
}

async function decide(
  given: Exclude<Approval, (...given: never[]) => unknown> | undefined,
  tools: ToolSet,
  { toolCall, messages, runtimeContext }: Call,
  { operation, toolsContext = {} }: { readonly operation: Operation; readonly toolsContext: ToolsContext },
): Promise<Status> {
  const { toolName, toolCallId, input } = toolCall;
  const toolContext = Object.hasOwn(toolsContext, toolName) ? toolsContext[toolName] : operation;
  const options = { toolCallId, messages, runtimeContext };
  // A model may ask for a tool called "constructor".
  const set = given !== undefined && Object.hasOwn(given, toolName) ? given[toolName] : undefined;
  if (typeof set === "function") return (set as DecideOne)(input, { ...options, toolContext });
  if (set !== undefined) return set;
  const needs = Object.hasOwn(tools, toolName) ? tools[toolName]?.needsApproval : undefined;
  const needed =
    typeof needs === "function" ? await needs(input, { ...options, context: toolContext }) : needs;
  return needed === true ? "user-approval" : "not-applicable";
}
