// One MCP server as an agent uses it: connected when it is needed, and again when it has been away.
import type { Tool, ToolExecutionOptions, ToolSet } from "ai";
import { AndanteError, McpServerGoneError, McpTimeoutError } from "../../errors/index.ts";
import type { Logger } from "../../observe/log/logger.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";
import { waitingSteps } from "../call/durable.ts";
import { type Connected, callsOf, connect } from "./connect.ts";
import type { CheckedServer } from "./mcp-server.ts";
import type { Ask, Fields } from "./remote-calls.ts";

type Options = ToolExecutionOptions<unknown>;

export class McpConnection {
  readonly #server: CheckedServer;
  readonly #open: typeof connect;
  readonly #ask: Ask | undefined;
  #connecting: Promise<Connected> | undefined;
  #connected: Connected | undefined;
  /** The tools of the server at the last connection. */
  #known: ToolSet | undefined;
  #isGone = false;

  /** `open` connects to the server. */
  constructor(server: CheckedServer, open = connect) {
    this.#server = server;
    this.#open = open;
    this.#ask = callsOf(server);
  }

  get name(): string {
    return this.#server.name;
  }

  /** Its tools. Those it had, when it is away: a call of one tries again, and the model reads that it failed. */
  async tools(logger: Logger): Promise<ToolSet> {
    try {
      this.#known = (await this.#connect(logger)).tools;
    } catch (error) {
      if (this.#known === undefined || !(error instanceof McpServerGoneError)) throw error;
    }
    const { prefix } = this.#server;
    const entries = Object.entries(this.#known).map(([name, tool]) => [
      `${prefix}${name}`,
      this.#tool(name, tool, logger),
    ]);
    return Object.fromEntries(entries);
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    this.#connected = undefined;
    const connected = await connecting?.catch(() => undefined);
    await connected?.close();
  }

  #tool(name: string, tool: ToolSet[string], logger: Logger): ToolSet[string] {
    const bound: Pick<Tool, "execute"> = {
      execute: (input, options) => this.#call(name, input, options, logger),
    };
    return Object.assign({ ...tool }, bound) as ToolSet[string];
  }

  async #call(name: string, input: unknown, options: Options, logger: Logger): Promise<unknown> {
    const wait = this.#waitFor(name, input, options);
    for (let isFirst = true; ; isFirst = false) {
      const connected = await this.#connect(logger).catch((error: unknown) => {
        if (wait === undefined) throw error;
        return { error };
      });
      // A server that is away for a while still has the task that the call waits for.
      if ("error" in connected) {
        return wait?.().catch((error: unknown) => {
          throw isPassed(error) || isReply(error) ? error : connected.error;
        });
      }
      try {
        if (connected.isModern && wait !== undefined) return await wait();
        return await this.#run(connected, name, input, options);
      } catch (error) {
        if (options.abortSignal?.aborted) throw options.abortSignal.reason;
        if (isPassed(error)) throw error;
        const isCut = connected.lost.aborted;
        const isUntouched = !isCut && (connected.isForgotten || isRefused(error));
        // The server has read the call and refused it: it is there.
        if (!isCut && !isUntouched && isReply(error)) throw error;
        this.#drop(connected);
        // Whether a call that was cut off has been done is not known, so only one that never began is repeated.
        if (isUntouched && isFirst && !(connected.isModern && wait)) continue;
        throw this.#gone(`it went away during the call of ${name}`, error, logger);
      }
    }
  }

  async #run(connected: Connected, name: string, input: unknown, options: Options): Promise<unknown> {
    const { tools, lost } = connected;
    const execute = Object.hasOwn(tools, name) ? tools[name]?.execute : undefined;
    if (execute === undefined) {
      const problem = `it no longer has the tool ${name}`;
      throw new McpServerGoneError({ server: this.name, problem, cause: undefined });
    }
    const context: never = {} as never;
    const call = (abortSignal: AbortSignal) => execute(input, { ...options, context, abortSignal });
    return this.#inTime(name, options, call, lost);
  }

  /** The call where it can wait for days; undefined elsewhere. */
  #waitFor(name: string, input: unknown, options: Options): (() => Promise<unknown>) | undefined {
    const ask = this.#ask;
    const steps = waitingSteps(options);
    if (ask === undefined || steps === undefined) return undefined;
    const send = (method: string, params: Fields) =>
      this.#inTime(name, options, (signal) => ask(method, params, signal));
    return async () => {
      // Loaded on demand: it checks answers with the interpreter of JSON Schemas.
      const { callDurably } = await import("./durable-call.ts");
      return callDurably({ name, input, ask: send, isReply }, steps);
    };
  }

  /** Within the time limit of the server, and as long as the connection holds. */
  async #inTime<Result>(
    toolName: string,
    { abortSignal }: Options,
    work: (signal: AbortSignal) => Result | PromiseLike<Result>,
    lost?: AbortSignal,
  ): Promise<Result> {
    const { timeout } = this.#server;
    const late = AbortSignal.timeout(timeout);
    try {
      return await work(AbortSignal.any([late, lost, abortSignal].filter((signal) => signal !== undefined)));
    } catch (error) {
      if (late.aborted && !lost?.aborted) throw new McpTimeoutError({ server: this.name, toolName, timeout });
      throw error;
    }
  }

  #connect(logger: Logger): Promise<Connected> {
    if (this.#connecting !== undefined) return this.#connecting;
    const connecting = this.#open(this.#server).then(
      (connected) => {
        if (this.#connecting === connecting) this.#connected = connected;
        connected.lost.addEventListener("abort", () => this.#drop(connected), { once: true });
        if (connected.lost.aborted) this.#drop(connected);
        if (this.#isGone) logger.info(this.#fields, "an MCP server is back");
        this.#isGone = false;
        this.#known = connected.tools;
        return connected;
      },
      (error: unknown) => {
        if (this.#connecting === connecting) this.#connecting = undefined;
        throw error instanceof AndanteError ? error : this.#gone("it cannot be reached", error, logger);
      },
    );
    this.#connecting = connecting;
    return connecting;
  }

  /** The next call connects again. */
  #drop(connected: Connected): void {
    if (this.#connected === connected) {
      this.#connecting = undefined;
      this.#connected = undefined;
    }
    connected.close().catch(() => undefined);
  }

  #gone(problem: string, cause: unknown, logger: Logger): McpServerGoneError {
    const error = new McpServerGoneError({ server: this.name, problem, cause });
    // Once, however many calls find out.
    if (!this.#isGone) logger.warn({ ...this.#fields, err: error }, "an MCP server is gone");
    this.#isGone = true;
    return error;
  }

  get #fields() {
    return { mcpServer: this.name, place: this.#server.place };
  }
}

/** An error that is not about the server: ours, or that of a wait. */
function isPassed(error: unknown): boolean {
  return error instanceof AndanteError || error instanceof LoopLeftError;
}

/** A reply of the server in the protocol: a JSON-RPC error. */
function isReply(error: unknown): boolean {
  return error instanceof Error && "code" in error && typeof error.code === "number";
}

/** No server listens at the address: the call has not reached one. */
function isRefused(error: unknown): boolean {
  // An error may be among its own causes.
  const seen = new Set<unknown>();
  for (let cause: unknown = error; cause instanceof Error && !seen.has(cause); cause = cause.cause) {
    seen.add(cause);
    if ("code" in cause && cause.code === "ECONNREFUSED") return true;
  }
  return false;
}
