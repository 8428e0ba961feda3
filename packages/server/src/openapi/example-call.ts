// Example shell commands that call a workflow or an agent.
import type { AgentSummary, WorkflowDetail } from "@andante/core/internal";
import { exampleValue } from "@andante/core/internal/examples";

/**
 * Shell commands, to be run in order: one that executes the workflow with an example input and, when a step has a
 * resume schema, one that resumes it.
 */
export function exampleCalls(url: string, workflow: WorkflowDetail): readonly string[] {
  const address = `${url}/workflows/${encodeURIComponent(workflow.id)}`;
  const execute = curl(`${address}/execute`, JSON.stringify({ input: exampleInput(workflow) }));
  const waiting = workflow.steps.find(({ resumeSchema }) => resumeSchema !== undefined);
  const resumeSchema = waiting?.resumeSchema ?? workflow.resumeSchema;
  if (resumeSchema === null) return [execute];
  // The first command prints its response, and the second extracts the executionId from it.
  const takeId = `printf %s "$response" | sed 's/.*"executionId":"\\([^"]*\\)".*/\\1/'`;
  const body = JSON.stringify({ resumeData: exampleValue(resumeSchema).value });
  const resume = curl(`${address}/executions/`, body, `$(${takeId})/resume`);
  return [`response=$(${execute}); printf '%s\\n' "$response"`, resume];
}

/** An input that fits the workflow's schema. */
export function exampleInput({ inputSchema }: Pick<WorkflowDetail, "inputSchema">): unknown {
  return exampleValue(inputSchema).value;
}

/** A curl command that calls the agent. */
export function exampleQuestion(url: string, agent: Pick<AgentSummary, "id">): string {
  const body = JSON.stringify({ input: "Hello! What can you do?" });
  return curl(`${url}/agents/${encodeURIComponent(agent.id)}/text`, body);
}

/** `ending` is appended to the address unquoted. */
function curl(address: string, body: string, ending = ""): string {
  return `curl -s ${shellWord(address)}${ending} -H 'Content-Type: application/json' -d ${shellWord(body)}`;
}

function shellWord(text: string): string {
  return isShellWord(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Whether the text needs no quotes in a shell. */
function isShellWord(text: string): boolean {
  return /^[\w:/.%-]+$/.test(text);
}

/** The placeholder for the origin in commands. Origins that need shell quotes have another placeholder. */
export function placeholderFor(origin: string): string {
  return isShellWord(origin) ? "http://origin.invalid" : "http://{origin.invalid}";
}

/** The text with this origin in place of the placeholder. */
export function atOrigin(origin: string, text: string, written = (word: string) => word): string {
  const word = written(origin.replaceAll("'", `'\\''`));
  return text.replaceAll(placeholderFor(origin), () => word);
}
