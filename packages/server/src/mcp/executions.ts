// Executions behind calls and tasks: the state that the caller may see, the questions to it, and the answers.
import type { ExecutionHandle, ExecutionState } from "@andante/core";
import { ForbiddenError } from "../errors/auth-errors.ts";
import { isObject } from "../is-object.ts";
import { findVisible } from "../routes/executions.ts";
import { type McpCall, rowOf } from "./call.ts";
import { dataOfForm, formOf, short } from "./form.ts";

type Fields = Readonly<Record<string, unknown>>;
type Suspension = NonNullable<ExecutionState["suspensions"]>[number];

/** The state; an execution that the caller may not see does not exist. */
export function visibleState(call: McpCall, executionId: string): Promise<ExecutionState> {
  return call.perform(rowOf("findExecution"), { params: { executionId } }, findVisible);
}

/** The questions of an execution for a client that shows forms, by their keys; none where the caller may not resume it. */
export async function questionsOf(call: McpCall, state: ExecutionState): Promise<Fields> {
  const open = suspensionsOf(state).filter(({ stepPath }) => stepPath !== undefined);
  if (!call.supportsForms || open.length === 0 || !(await mayResume(call, state))) return {};
  return Object.fromEntries(open.map((suspension) => [suspension.suspensionId, questionOf(suspension)]));
}

/**
 * Resumes the execution with the accepted answers among these, and returns the last resumed; undefined without one. Answers
 * to questions that are not open are ignored, and a declined question stays open for other people.
 */
export async function answer(
  call: McpCall,
  state: ExecutionState,
  answers: Fields,
): Promise<ExecutionHandle | undefined> {
  const { executionId, workflowId } = state;
  const { andante } = call.service;
  let resumed: ExecutionHandle | undefined;
  for (const { suspensionId, resumeSchema } of suspensionsOf(state)) {
    const given = Object.hasOwn(answers, suspensionId) ? answers[suspensionId] : undefined;
    if (!isObject(given) || given.action !== "accept") continue;
    const data = dataOfForm(resumeSchema, isObject(given.content) ? given.content : {});
    const request = { params: { id: workflowId, executionId }, body: { resumeData: data } };
    resumed = await call.perform(rowOf("resumeExecution"), request, ({ caller }) =>
      andante.startResume(workflowId, executionId, data, { suspensionId, userId: caller.userId }),
    );
  }
  return resumed;
}

/** Where a person decides, for clients that cannot be asked. */
export function waysToDecide(call: McpCall, { executionId, workflowId }: ExecutionState): string {
  const path = `/workflows/${encodeURIComponent(workflowId)}/executions/${encodeURIComponent(executionId)}/resume`;
  const ways = [
    ...(call.service.hasConsole() ? [`in the console (${call.url}/console/inbox)`] : []),
    `with POST ${call.url}${path}`,
    ...(call.options.operator ? ["with the tool inbox_decide"] : []),
  ];
  return `Decide ${ways.join(", or ")}.`;
}

function suspensionsOf({ suspensions, suspension }: ExecutionState): readonly Suspension[] {
  return suspensions ?? (suspension === undefined ? [] : [suspension]);
}

async function mayResume(call: McpCall, { workflowId, executionId }: ExecutionState): Promise<boolean> {
  try {
    await call.permission({ action: "executions.resume" }).scopeOf({ workflowId, executionId });
    return true;
  } catch (error) {
    if (error instanceof ForbiddenError) return false;
    throw error;
  }
}

function questionOf({ reason, stepId, data, resumeSchema }: Suspension): Fields {
  const shown = data === undefined || data === null ? "" : `\n${short(JSON.stringify(data))}`;
  const message = `${reason === "" ? `Step ${stepId} waits` : reason}${shown}`;
  const params = { mode: "form", message, requestedSchema: formOf(resumeSchema) };
  return { method: "elicitation/create", params };
}
