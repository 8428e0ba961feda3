// An agent that calls a tool of an MCP server once, and repeats its result. For tests of calls that wait.
import { Agent } from "@andante/core";
import { mcpTools } from "@andante/core/mcp";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";

export function callerOf(url: string, token?: (isRefused: boolean) => string): Agent {
  return new Agent({
    id: "caller",
    model: controlledModel(({ prompt }) => {
      const last = prompt.at(-1);
      return last?.role === "tool"
        ? { text: [`Done: ${JSON.stringify(last.content)}`] }
        : { calls: [{ name: "publish", input: { text: "hello" } }] };
    }),
    tools: mcpTools({ desk: { url: `${url}/mcp`, ...(token && { token }) } }),
  });
}
