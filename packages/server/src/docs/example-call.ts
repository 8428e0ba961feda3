// A ready-made call of a workflow, for people who want to try it now.
import { exampleFor, type WorkflowDetail } from "@andante/core";

/** A curl command that executes the workflow with an example of its input. */
export function exampleCall(url: string, workflow: WorkflowDetail): string {
  const body = JSON.stringify({ input: exampleFor(workflow.inputSchema) });
  const address = `${url}/workflows/${encodeURIComponent(workflow.id)}/execute`;
  return `curl -s ${shellWord(address)} -H 'Content-Type: application/json' -d ${shellWord(body)}`;
}

function shellWord(text: string): string {
  return /^[\w:/.%-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
