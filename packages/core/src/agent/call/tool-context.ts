// Gives tools their `context`: the one of the host's `toolsContext`, or the operation that they run in.

import type { StandardSchemaV1 } from "@standard-schema/spec";
import { asSchema, type Tool, type ToolSet } from "ai";
import { validate } from "../../values/schema.ts";
import type { DurableLoop } from "../durable/durable-loop.ts";
import type { ToolCall } from "../durable/tool-call.ts";
import { isAsyncIterable } from "../durable/tool-run.ts";
import type { DataChunk } from "./data-writer.ts";
import { type AgentUsage, type CountedTokens, Operation, oneCall } from "./operation.ts";

export interface ToolSurroundings {
  /** Default: every tool may run. */
  readonly guard?: ToolGuard | undefined;
  /** The contexts of single tools, by name. Default: none. */
  readonly toolsContext?: Readonly<Record<string, unknown>> | undefined;
}

/** The same tools; their `context` is the host's own or else the operation, as far as their own schema accepts it. */
export function toolsWithin(tools: ToolSet, operation: Operation, around: ToolSurroundings = {}): ToolSet {
  return Object.fromEntries(
    Object.entries(tools).map(([name, each]) => [name, within(name, each, operation, around)]),
  );
}

/** Asked before a tool runs; rejects when it may not. */
export type ToolGuard = (call: {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
}) => Promise<void>;

function within(
  name: string,
  given: ToolSet[string],
  operation: Operation,
  { guard, toolsContext = {} }: ToolSurroundings,
): ToolSet[string] {
  const { execute, contextSchema } = given;
  const contextOf = (inside: Operation) => (Object.hasOwn(toolsContext, name) ? toolsContext[name] : inside);
  const { loop } = operation;
  if (execute === undefined && !(loop?.recorder.waits && isClients(given))) return given;
  // Without its schema: the AI SDK would validate a context of its own with it, and there is none.
  const { contextSchema: _, ...rest } = given;
  const bound: Pick<Tool, "execute"> = {
    // Not async: the AI SDK shows preliminary outputs when the call itself returns an async iterable.
    execute: (input, options) => {
      const start = (given: typeof input, inside: Operation) =>
        execute &&
        inContext(contextSchema, contextOf(inside), (context) => execute(given, { ...options, context }));
      const run = (given: typeof input, inside: Operation) => {
        const asked = async () => guard?.({ toolName: name, toolCallId: options.toolCallId, input: given });
        if (isGenerator(execute)) return yieldAfter(asked, () => start(given, inside));
        return guard === undefined ? start(given, inside) : asked().then(() => start(given, inside));
      };
      const call = loop?.toolCall(options.toolCallId, name);
      if (call === undefined) return run(input, new InnerOperation(operation));
      const inside = new RecordedOperation(operation, call);
      return call.run({
        input,
        execute: (decided) => run(decided, inside),
        isClients: execute === undefined,
        yields: isGenerator(execute),
        show: (parts) => {
          for (const part of parts) operation.writeChunk(part);
        },
        used: (usage) => operation.add(usage),
        parse: (edited) => parsed(given.inputSchema, edited),
        inputSchema: async () => ({ ...(await asSchema(given.inputSchema).jsonSchema) }),
        outputSchema: async () =>
          given.outputSchema && { ...(await asSchema(given.outputSchema).jsonSchema) },
      });
    },
  };
  return Object.assign({ ...rest }, bound) as ToolSet[string];
}

function isGenerator(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === "[object AsyncGeneratorFunction]";
}

async function* yieldAfter(
  asked: () => Promise<unknown>,
  start: () => unknown,
): AsyncGenerator<unknown, undefined> {
  await asked();
  // A promise where the schema of the context takes its time.
  const values = await start();
  if (isAsyncIterable(values)) yield* values;
}

/** True for a tool whose output comes from the client; a provider runs its own. */
function isClients({ type }: ToolSet[string]): boolean {
  return type !== "provider";
}

/** The input as its schema returns it. */
export async function parsed(schema: ToolSet[string]["inputSchema"], input: unknown): Promise<unknown> {
  // An edited input is a caller's: the AI SDK's own way has no limit for large values.
  if ("~standard" in schema) {
    const valid = await validate(schema, input);
    if (!valid.ok) throw new TypeError(`the input does not fit its schema: ${valid.detail}`);
    return valid.value;
  }
  const result = await asSchema(schema).validate?.(input);
  if (result === undefined) return input;
  if (!result.success) throw result.error;
  return result.value;
}

/** Calls the tool with its context as its schema returns it; at once, unless the schema takes its time. */
function inContext(
  schema: ToolSet[string]["contextSchema"],
  given: unknown,
  call: (context: unknown) => unknown,
): unknown {
  if (schema === undefined) return call(given);
  const accepted = accept(schema, given);
  return accepted instanceof Promise ? accepted.then(call) : call(accepted);
}

function accept(schema: NonNullable<ToolSet[string]["contextSchema"]>, given: unknown): unknown {
  // The AI SDK's own way to a Standard Schema is always a promise.
  if ("~standard" in schema) {
    const result = schema["~standard"].validate(given);
    return result instanceof Promise ? result.then(acceptedValue) : acceptedValue(result);
  }
  return parsed(schema, given);
}

function acceptedValue(result: StandardSchemaV1.Result<unknown>): unknown {
  if (result.issues === undefined) return result.value;
  throw new TypeError(`the tool's contextSchema refused the context: ${result.issues[0]?.message}`);
}

/** The operation as one call of a tool sees it: with a usage of its own. */
class InnerOperation extends Operation {
  readonly #above: Operation;

  constructor(above: Operation, loop?: DurableLoop) {
    super(above, { telemetry: above.telemetry, loop });
    this.#above = above;
    this.budgetReached = above.budgetReached;
  }

  override writeChunk(chunk: DataChunk): void {
    this.#above.writeChunk(chunk);
  }

  override get usage(): AgentUsage {
    return this.#above.usage;
  }

  override add(used: AgentUsage): void {
    super.add(used);
    this.#above.add(used);
  }

  override usedBy(call: ToolCall): void {
    this.#above.usedBy(call);
  }
}

/** The same for a call that is recorded: with the place of its record. */
class RecordedOperation extends InnerOperation {
  readonly executionId: string;
  readonly stepPath: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly emit: (type: string, data?: unknown) => void;
  readonly #call: ToolCall;

  constructor(above: Operation, call: ToolCall) {
    super(above, above.loop?.inside(call.place));
    this.#call = call;
    this.executionId = call.executionId;
    this.stepPath = call.path;
    this.attempt = call.attempt;
    this.idempotencyKey = call.idempotencyKey;
    this.emit = (type, data) => call.emit(type, data);
  }

  override writeChunk(chunk: DataChunk): void {
    this.#call.wrote(chunk);
    super.writeChunk(chunk);
  }

  override countUnrecorded(usage: CountedTokens): void {
    this.count(usage);
    this.#call.used(oneCall(usage));
    this.usedBy(this.#call);
  }
}
