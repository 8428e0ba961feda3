// How a host names an MCP server: a command that is started, or an address.
import { DefinitionError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { type Duration, parseDuration } from "../../values/duration.ts";
import { isRecord } from "../../values/fields.ts";

interface McpServerSettings {
  /** Stands before the names of its tools, such as `"files_"`. Default: none. */
  readonly prefix?: string;
  /** How long one call of a tool may take. Default: one minute. */
  readonly timeout?: Duration;
  /** How long connecting may take, with reading which tools there are. Default: 10 seconds. */
  readonly connectTimeout?: Duration;
}

/** A server that is started as a process of its own and spoken to over its standard input and output. */
export interface McpCommand extends McpServerSettings {
  readonly command: string;
  /** Default: none. */
  readonly args?: readonly string[];
  /** Added to the few variables that the process inherits, such as PATH. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: this process's. */
  readonly cwd?: string;
}

/** A server that is reached over HTTP. */
export interface McpAddress extends McpServerSettings {
  readonly url: string;
  /** Sent with each request, such as `authorization`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Gives the token of each request, sent as `authorization: Bearer`. After a 401 it is called with `true`, for another
   * token, and the request is made once more. Default: none.
   */
  readonly token?: (isRefused: boolean) => string | Promise<string>;
}

export type McpServer = McpCommand | McpAddress;

const knownSettings: KnownOptions<McpServerSettings> = { prefix: true, timeout: true, connectTimeout: true };
const knownCommand: KnownOptions<McpCommand> = {
  ...knownSettings,
  command: true,
  args: true,
  env: true,
  cwd: true,
};
const knownAddress: KnownOptions<McpAddress> = { ...knownSettings, url: true, headers: true, token: true };

/** A server that was checked. */
export interface CheckedServer {
  readonly name: string;
  readonly server: McpServer;
  readonly prefix: string;
  /** Milliseconds, both. */
  readonly timeout: number;
  readonly connectTimeout: number;
  /** For the log: the command or the address, without possible secrets. */
  readonly place: string;
}

const defaultTimeout = 60_000;
const defaultConnectTimeout = 10_000;

/** Throws, while the host defines, for options that could never work. */
export function checkServer(name: string, server: McpServer): CheckedServer {
  const where = `mcpTools, server "${name}"`;
  const isCommand = isRecord(server) && "command" in server;
  checkKnownOptions(where, server, isCommand ? knownCommand : knownAddress);
  const { prefix = "", timeout = defaultTimeout, connectTimeout = defaultConnectTimeout } = server;
  // The characters that providers accept in the name of a tool.
  if (!/^[A-Za-z0-9_-]{0,32}$/.test(prefix)) {
    throw new DefinitionError({ where, problem: "a prefix has at most 32 letters, digits, _ and -" });
  }
  return {
    name,
    server,
    prefix,
    timeout: parseDuration(timeout, `${where}, timeout`),
    connectTimeout: parseDuration(connectTimeout, `${where}, connectTimeout`),
    place: "command" in server ? server.command : addressOf(server, where),
  };
}

function addressOf({ url }: McpAddress, where: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol)) {
    throw new DefinitionError({ where, problem: "needs a command, or an http(s) url" });
  }
  return `${address.origin}${address.pathname}`;
}
