// The option `mcp`: which workflows and agents are tools, and how long a call is waited for.
import type { Andante } from "@andante/core";
import { OptionError } from "@andante/core/errors";
import { checkOptionGroup, type KnownOptions } from "@andante/core/internal";
import { checkExposed, checkUrl, checkWait, type Exposed } from "../exposed/exposed.ts";

export interface McpOptions {
  /** The ids of the workflows and agents that are tools. */
  readonly expose: readonly string[];
  /** The names of tools, by the ids of their workflows and agents. Default: the ids. */
  readonly names?: Readonly<Record<string, string>>;
  /** Adds tools for the inbox, executions and schedules, each with an action for `authorize`. Default: false. */
  readonly operator?: boolean;
  /** Milliseconds to wait for a result before a client that supports tasks gets a task. Default: 2000. */
  readonly wait?: number;
  /** The public URL of the server, such as "https://example.com/ai". Default: the address of the request. */
  readonly url?: string;
}

const known: KnownOptions<McpOptions> = { expose: true, names: true, operator: true, wait: true, url: true };

/** A workflow or an agent that is a tool. */
export interface ExposedTool extends Exposed {
  readonly name: string;
}

export interface CheckedMcpOptions {
  /** By their names. */
  readonly tools: ReadonlyMap<string, ExposedTool>;
  readonly operator: boolean;
  readonly wait: number;
  readonly url: string | undefined;
}

const defaultWait = 2000;

/** Throws an OptionError for options that could never work. */
export function checkMcpOptions(options: McpOptions, andante: Andante): CheckedMcpOptions {
  checkOptionGroup("mcp", options, known);
  const { expose, names = {}, operator = false, wait = defaultWait, url } = options;
  const exposed = checkExposed("mcp", expose, andante);
  checkWait("mcp", wait);
  for (const id of Object.keys(names))
    if (!expose.includes(id))
      throw new OptionError({ option: "mcp.names", problem: `"${id}" is not in expose` });
  const tools = new Map<string, ExposedTool>();
  for (const { id, kind } of exposed) {
    const name = (Object.hasOwn(names, id) ? names[id] : undefined) ?? id;
    // The characters that clients and providers of models accept.
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name)) {
      const problem = `"${name}" is no name of a tool: 1 to 64 letters, digits, _, . and -`;
      throw new OptionError({ option: "mcp.names", problem });
    }
    if (tools.has(name)) throw new OptionError({ option: "mcp.names", problem: `two tools are "${name}"` });
    tools.set(name, { name, id, kind });
  }
  return { tools, operator, wait, url: checkUrl("mcp", url) };
}
