// A user's code against generated code: each caller executes, resumes and reads, and would not compile if the
// description had lost a type. They are written beside the generated files, so they are kept here as text.

const openapiTypescript = `import createClient from "openapi-fetch";
import type { components, paths } from "./schema.ts";

export async function call(baseUrl: string) {
  const client = createClient<paths>({ baseUrl });
  const input: components["schemas"]["SumWorkflow"]["input"] = { a: 2, b: 3 };
  // @ts-expect-error: a is a number
  const wrong: components["schemas"]["SumWorkflow"]["input"] = { a: "2" };
  const executed = await client.POST("/workflows/{id}/execute", {
    params: { path: { id: "sum" }, header: { Prefer: "wait=10" } },
    body: { input },
  });
  // @ts-expect-error: input is required
  const refused = await client.POST("/workflows/{id}/execute", { params: { path: { id: "sum" } }, body: {} });
  const suspended = await client.POST("/workflows/{id}/execute", {
    params: { path: { id: "approval" } },
    body: { input: { topic: "rivers" } },
  });
  const executionId: string = suspended.data?.data.executionId ?? "";
  const resumeData: components["schemas"]["ApprovalWorkflow"]["resumeData"] = { approved: true };
  const resumed = await client.POST("/workflows/{id}/executions/{executionId}/resume", {
    params: { path: { id: "approval", executionId } },
    body: { resumeData },
  });
  const asked = await client.POST("/agents/{id}/text", { params: { path: { id: "AGENT" } }, body: { input: "Hello" } });
  return {
    executed: executed.data?.data.result,
    refused: refused.error?.error,
    code: refused.response?.headers.get("x-error-code"),
    resumed: resumed.data?.data.status,
    // With Prefer: respond-async the reply is read later.
    asked: asked.data && "finishReason" in asked.data.data ? asked.data.data.finishReason : undefined,
    wrong,
  };
}
`;

const heyApi = `import { client } from "./hey-api/client.gen";
import { executeWorkflow, followExecution, generateText, resumeExecution } from "./hey-api/sdk.gen";
import type { ApprovalWorkflow, SumWorkflow } from "./hey-api/types.gen";

export async function call(baseUrl: string) {
  client.setConfig({ baseUrl });
  const input: SumWorkflow["input"] = { a: 2, b: 3 };
  // @ts-expect-error: a is a number
  const wrong: SumWorkflow["input"] = { a: "2" };
  const executed = await executeWorkflow({ path: { id: "sum" }, headers: { Prefer: "wait=10" }, body: { input } });
  // @ts-expect-error: input is required
  const refused = await executeWorkflow({ path: { id: "sum" }, body: {} });
  const suspended = await executeWorkflow({ path: { id: "approval" }, body: { input: { topic: "rivers" } } });
  const executionId: string = suspended.data?.data.executionId ?? "";
  const resumeData: ApprovalWorkflow["resumeData"] = { approved: true };
  const path = { id: "approval", executionId };
  const resumed = await resumeExecution({ path, body: { resumeData } });
  const types: string[] = [];
  const { stream } = await followExecution({ path, query: { after: 0 }, sseMaxRetryAttempts: 1 });
  for await (const event of stream) types.push(event ? event.type : "nothing left");
  const asked = await generateText({ path: { id: "AGENT" }, body: { input: "Hello" } });
  return {
    executed: executed.data?.data.result,
    refused: refused.error?.error,
    code: refused.response?.headers.get("x-error-code"),
    resumed: resumed.data?.data.status,
    // With Prefer: respond-async the reply is read later.
    asked: asked.data && "finishReason" in asked.data.data ? asked.data.data.finishReason : undefined,
    last: types.at(-1),
    wrong,
  };
}
`;

const orval = `import { executeWorkflow, generateText, resumeExecution } from "./orval";
import type { ApprovalWorkflow, SumWorkflow } from "./orval";

export async function call(_: string) {
  const input: SumWorkflow["input"] = { a: 2, b: 3 };
  // @ts-expect-error: a is a number
  const wrong: SumWorkflow["input"] = { a: "2" };
  const executed = await executeWorkflow("sum", { input });
  // @ts-expect-error: input is required
  const refused = await executeWorkflow("sum", {});
  const suspended = await executeWorkflow("approval", { input: { topic: "rivers" } });
  const executionId: string = suspended.status === 200 ? suspended.data.data.executionId : "";
  const resumeData: ApprovalWorkflow["resumeData"] = { approved: true };
  const resumed = await resumeExecution("approval", executionId, { resumeData });
  const asked = await generateText("AGENT", { input: "Hello" });
  return {
    executed: executed.status === 200 ? executed.data.data.result : undefined,
    refused: refused.status === 400 ? refused.data.error : undefined,
    code: refused.headers.get("x-error-code"),
    resumed: resumed.status === 200 ? resumed.data.data.status : undefined,
    asked: asked.status === 200 ? asked.data.data.finishReason : undefined,
    wrong,
  };
}
`;

/** The callers by the name of their file; they ask this agent. */
export function callersFor(agent: string): Readonly<Record<string, string>> {
  const all = { "openapi-typescript": openapiTypescript, "hey-api-caller": heyApi, "orval-caller": orval };
  return Object.fromEntries(
    Object.entries(all).map(([name, code]) => [name, code.replaceAll("AGENT", agent)]),
  );
}

const trees = `const input: Walk["input"] = { name: "root", children: [{ name: "leaf", children: [] }] };
// @ts-expect-error: a child is a tree, too
export const wrong: Walk["input"] = { name: "root", children: [{ name: 1, children: [] }] };
`;

/** Callers of a service with authentication, below a base path, whose workflow `walk` takes and returns a tree. */
export const protectedCallers: Readonly<Record<string, string>> = {
  "openapi-typescript": `import createClient from "openapi-fetch";
import type { components, paths } from "./schema.ts";
type Walk = components["schemas"]["WalkWorkflow"];
${trees}
export async function call(baseUrl: string, token: string) {
  const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
  const params = { path: { id: "walk" } };
  return (await client.POST("/workflows/{id}/execute", { params, body: { input } })).data?.data.result;
}
`,
  "hey-api-caller": `import { client } from "./hey-api/client.gen";
import { executeWorkflow } from "./hey-api/sdk.gen";
import type { WalkWorkflow as Walk } from "./hey-api/types.gen";
${trees}
export async function call(baseUrl: string, token: string) {
  client.setConfig({ baseUrl, auth: token });
  return (await executeWorkflow({ path: { id: "walk" }, body: { input } })).data?.data.result;
}
`,
  "orval-caller": `import { executeWorkflow } from "./orval";
import type { WalkWorkflow as Walk } from "./orval";
${trees}
export async function call() {
  const walked = await executeWorkflow("walk", { input });
  return walked.status === 200 ? walked.data.data.result : undefined;
}
`,
};
