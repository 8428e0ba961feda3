// A ready-made call of a workflow or an agent, for people who want to try it now.
import { type AgentSummary, exampleFor, type WorkflowDetail } from "@andante/core/internal";

/** A curl command that executes the workflow with an example of its input. */
export function exampleCall(url: string, workflow: WorkflowDetail): string {
  const body = JSON.stringify({ input: exampleFor(workflow.inputSchema) });
  return curl(`${url}/workflows/${encodeURIComponent(workflow.id)}/execute`, body);
}

/** A curl command that asks the agent. */
export function exampleQuestion(url: string, agent: Pick<AgentSummary, "id">): string {
  const body = JSON.stringify({ input: "Hello! What can you do?" });
  return curl(`${url}/agents/${encodeURIComponent(agent.id)}/text`, body);
}

function curl(address: string, body: string): string {
  return `curl -s ${shellWord(address)} -H 'Content-Type: application/json' -d ${shellWord(body)}`;
}

function shellWord(text: string): string {
  return /^[\w:/.%-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
