// The questions of executions to the client, and its answers.
import type { ExecutionHandle, ExecutionState } from "@andante/core";
import { type OpenSuspension, questionsFor, resumeSuspension, suspensionsOf } from "../exposed/executions.ts";
import { isObject } from "../is-object.ts";
import type { McpCall } from "./call.ts";
import { dataOfForm, formOf, short } from "./form.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The questions of an execution for a client that shows forms, by their keys; none where the caller may not resume it. */
export async function questionsOf(call: McpCall, state: ExecutionState): Promise<Fields> {
  if (!call.supportsForms) return {};
  const open = await questionsFor(call, state);
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
  let resumed: ExecutionHandle | undefined;
  for (const { suspensionId, resumeSchema } of suspensionsOf(state)) {
    const given = Object.hasOwn(answers, suspensionId) ? answers[suspensionId] : undefined;
    if (!isObject(given) || given.action !== "accept") continue;
    const data = dataOfForm(resumeSchema, isObject(given.content) ? given.content : {});
    resumed = await resumeSuspension(call, state, suspensionId, data);
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

function questionOf({ reason, stepId, data, resumeSchema }: OpenSuspension): Fields {
  const shown = data === undefined || data === null ? "" : `\n${short(JSON.stringify(data))}`;
  const message = `${reason === "" ? `Step ${stepId} waits` : reason}${shown}`;
  const params = { mode: "form", message, requestedSchema: formOf(resumeSchema) };
  return { method: "elicitation/create", params };
}
