// The tools of MCP servers for agents: `@andante/core/mcp`.
import type { ToolSet } from "ai";
import { DefinitionError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import type { HeldTools } from "../call/callable-agent.ts";
import type { OperationContext } from "../call/operation.ts";
import { McpConnection } from "./mcp-connection.ts";
import { checkServer, type McpServer } from "./mcp-server.ts";

export type { McpAddress, McpCommand, McpServer } from "./mcp-server.ts";

/** A value for the `tools` option of an agent. */
export interface McpTools {
  (context: OperationContext): Promise<ToolSet>;
  /** Ends the connections, and the processes of servers that were started. The next use connects again. */
  close(): Promise<void>;
}

export interface McpToolsOptions {
  /** Tools of your own that the agent has beside those of the servers. Default: none. */
  readonly tools?: ToolSet;
}

const knownOptions: KnownOptions<McpToolsOptions> = { tools: true };

/**
 * The tools of MCP servers, for the `tools` of an agent. Connects when the agent is first used, again when a server has
 * been away, and disconnects when the last Andante that uses the agent closes. Needs the package `@ai-sdk/mcp`.
 *
 * @example
 * ```ts
 * import { Agent } from "@andante/core";
 * import { mcpTools } from "@andante/core/mcp";
 *
 * export const helper = new Agent({
 *   id: "helper",
 *   model: "openai/gpt-5",
 *   tools: mcpTools({
 *     files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv/files"] },
 *     tickets: { url: "https://tickets.example.com/mcp", headers: { authorization: "Bearer …" }, prefix: "tickets_" },
 *   }),
 * });
 * ```
 */
export function mcpTools(
  servers: Readonly<Record<string, McpServer>>,
  options: McpToolsOptions = {},
): McpTools {
  checkKnownOptions("mcpTools", options, knownOptions);
  const connections = Object.entries(servers).map(
    ([name, server]) => new McpConnection(checkServer(name, server)),
  );
  const { tools: own = {} } = options;
  const close = async () => {
    await Promise.all(connections.map((connection) => connection.close()));
  };
  let holders = 0;
  const held: HeldTools = {
    retain: () => {
      holders++;
    },
    release: async () => {
      holders--;
      if (holders <= 0) await close();
    },
  };
  const tools = async ({ logger }: OperationContext) => {
    const sets = await Promise.all(
      connections.map(async (connection) => ({
        from: `the MCP server ${connection.name}`,
        tools: await connection.tools(logger),
      })),
    );
    return merged([{ from: "your own tools", tools: own }, ...sets]);
  };
  return Object.assign(tools, { close, ...held });
}

/** All tools under their names; two of one name would hide each other. */
function merged(sets: readonly { readonly from: string; readonly tools: ToolSet }[]): ToolSet {
  const owners = new Map<string, string>();
  for (const { from, tools } of sets) {
    for (const name of Object.keys(tools)) {
      const other = owners.get(name);
      if (other !== undefined) {
        const problem = `${other} and ${from} both have a tool "${name}"; give a server a prefix`;
        throw new DefinitionError({ where: "mcpTools", problem });
      }
      owners.set(name, from);
    }
  }
  return Object.assign({}, ...sets.map(({ tools }) => tools));
}
