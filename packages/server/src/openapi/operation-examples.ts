// Examples of valid request bodies, one for each registered workflow and agent, under its id.
import { exampleValue } from "@andante/core/internal/examples";
import type { JsonObject } from "./json-object.ts";
import type { Registered } from "./registered-schemas.ts";

/** By the name of the example: the body, and the `id` for the path. */
export type Examples = Readonly<Record<string, { readonly id?: string; readonly body: JsonObject }>>;

const question = "Hello! What can you do?";
const about = {
  type: "object",
  properties: { title: { type: "string" }, words: { type: "integer" } },
  required: ["title", "words"],
};

/** The examples by operation. */
export function operationExamples({ workflows, agents }: Registered): Readonly<Record<string, Examples>> {
  const forEach = <T extends { readonly id: string }>(all: readonly T[], bodyOf: (each: T) => JsonObject[]) =>
    Object.fromEntries(all.flatMap((each) => bodyOf(each).map((body) => [each.id, { id: each.id, body }])));
  // Schemas without a valid example are omitted: an example that is refused would mislead.
  const fitting = (schema: object | null, field: string): JsonObject[] => {
    if (schema === null) return [];
    const { value, problem } = exampleValue(schema);
    return problem === undefined ? [{ [field]: value }] : [];
  };
  const start = forEach(workflows, ({ inputSchema }) => fitting(inputSchema, "input"));
  const resume = forEach(workflows, ({ steps, resumeSchema }) => {
    const schema = steps.find((step) => step.resumeSchema !== undefined)?.resumeSchema ?? resumeSchema;
    return fitting(schema, "resumeData");
  });
  const replay = forEach(workflows, ({ steps }) => steps.slice(0, 1).map(({ id }) => ({ stepId: id })));
  const text = forEach(agents, () => [{ input: question }]);
  const object = forEach(agents, () => [{ input: question, schema: about }]);
  const message = { id: "message-1", role: "user", parts: [{ type: "text", text: question }] };
  const chat = forEach(agents, () => [{ input: [message] }]);
  const reason = { reason: { body: { reason: "Not needed any more" } } };
  return {
    executeWorkflow: start,
    streamWorkflow: start,
    resumeExecution: resume,
    replayExecution: replay,
    suspendExecution: reason,
    cancelExecution: reason,
    cancelFoundExecution: reason,
    generateText: text,
    streamText: text,
    generateObject: object,
    streamObject: object,
    chatWithAgent: chat,
    renameConversation: { title: { body: { title: "A trip to Lisbon" } } },
  };
}
