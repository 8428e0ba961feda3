// A call of the server as a shell command and as code, to copy.
import { address, serverRoot } from "../../api/andante.ts";
import { currentToken } from "../../api/token.ts";
import { curlCommand } from "../../format/curl.ts";

export function curl(path: string, body?: unknown): string {
  return curlCommand(address(path), { body, hasToken: currentToken() !== null });
}

/** A start of the workflow with the client. */
export function clientCode(workflowId: string, input: unknown): string {
  const token = currentToken() === null ? "" : ", token";
  return [
    `import { createClient } from "@andante/client";`,
    "",
    `const andante = createClient({ baseUrl: ${JSON.stringify(serverRoot.replace(/\/$/, ""))}${token} });`,
    `const { executionId, status, result } = await andante`,
    `  .workflow(${JSON.stringify(workflowId)})`,
    `  .execute(${JSON.stringify(input ?? null, null, 2).replaceAll("\n", "\n  ")});`,
    `console.log(executionId, status, result);`,
    "",
  ].join("\n");
}
