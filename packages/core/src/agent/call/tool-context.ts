// Gives tools their `context`: the one of the host's `toolsContext`, or the operation that they run in. Their calls are
// recorded here, also those of tools that the AI SDK runs by itself.
import { AsyncLocalStorage } from "node:async_hooks";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { asSchema, experimental_toolCaller, type Tool, type ToolSet } from "ai";
import type { FactChange } from "../../store/fact-store.ts";
import { propertyOf } from "../../values/fields.ts";
import { validate } from "../../values/schema.ts";
import type { DurableLoop } from "../durable/durable-loop.ts";
import type { ToolCall } from "../durable/tool-call.ts";
import { isAsyncIterable } from "../durable/tool-run.ts";
import type { DataChunk } from "./data-writer.ts";
import { functionsOf, unrecordedSteps } from "./durable.ts";
import { type AgentUsage, type CountedTokens, Operation, plainOperation } from "./operation.ts";
import { isToolSearch, searchOf, type ToolQuery, type ToolSearches, withSearch } from "./tool-search.ts";

export interface ToolSurroundings {
  /** Default: every tool may run. */
  readonly guard?: ToolGuard | undefined;
  /** The searches of tools that have started. Default: there are none. */
  readonly searches?: ToolSearches | undefined;
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
  around: ToolSurroundings,
): ToolSet[string] {
  if (isToolSearch(given)) return searchWithin(name, given, operation, around);
  const caller = localCallerOf(given);
  if (caller === undefined) return bound(name, given, operation, around);
  // The AI SDK replaces the tool by the one that this function makes.
  const bind = (tools: ToolSet) =>
    bound(name, caller.bind(tools), operation, { ...around, isCaller: true }) as Tool;
  return experimental_toolCaller(given as Tool, { ...caller, bind }) as ToolSet[string];
}

type LocalCaller = Extract<Parameters<typeof experimental_toolCaller>[1], { readonly type: "local" }>;

/** How a tool whose code calls other tools gets them, such as that of code mode; undefined for any other tool. */
function localCallerOf(given: ToolSet[string]): LocalCaller | undefined {
  const caller = propertyOf(given, "experimental_toolCaller");
  return propertyOf(caller, "type") === "local" ? (caller as LocalCaller) : undefined;
}

/** The call of a tool whose code calls other tools, and how many it has called: they are recorded below it, in order. */
interface CallerCall {
  readonly loop: DurableLoop;
  readonly place: string;
  /** Ends it: a tool that it has called waits, or may not begin. */
  readonly leave: (left: unknown) => void;
  calls: number;
}

const callerCall = new AsyncLocalStorage<CallerCall>();

/** The call of a tool in the loop; undefined where nothing is recorded. */
function callOf(loop: DurableLoop | undefined, toolCallId: string, toolName: string): ToolCall | undefined {
  const caller = loop && callerCall.getStore();
  // A sub-agent that such a tool asks has a loop of its own.
  if (caller === undefined || caller.loop !== loop) return loop?.toolCall(toolCallId, toolName);
  return loop.toolCallAt(`${caller.place}.tool[${caller.calls++}]`, { toolName, toolCallId }, caller.leave);
}

function bound(
  name: string,
  given: ToolSet[string],
  operation: Operation,
  { guard, isCaller = false }: ToolSurroundings & { readonly isCaller?: boolean },
): ToolSet[string] {
  const { execute, contextSchema } = given;
  const { loop } = operation;
  if (execute === undefined && !(decidesHere(loop) && isClients(given))) return given;
  // Without its schema: the AI SDK would validate a context of its own with it, and there may be none.
  const { contextSchema: _, ...rest } = given;
  const running: Pick<Tool, "execute"> = {
    // Not async: the AI SDK shows preliminary outputs when the call itself returns an async iterable.
    execute: (input, options) => {
      const call = callOf(loop, options.toolCallId, name);
      const steps = call?.steps ?? unrecordedSteps(name, options.toolCallId, operation.signal);
      const start = (given: typeof input, inside: Operation) =>
        execute &&
        inContext(contextSchema, contextOf(options.context, contextSchema, inside), (context) =>
          execute(given, { ...options, ...functionsOf(steps), context }),
        );
      const run = (given: typeof input, inside: Operation) => {
        const asked = async () => guard?.({ toolName: name, toolCallId: options.toolCallId, input: given });
        if (isGenerator(execute)) return yieldAfter(asked, () => start(given, inside));
        return guard === undefined ? start(given, inside) : asked().then(() => start(given, inside));
      };
      if (call === undefined || loop === undefined) return run(input, new InnerOperation(operation));
      const inside = new RecordedOperation(operation, call);
      const work = (decided: typeof input) => run(decided, inside);
      const asCaller = (decided: typeof input) => {
        const { promise: left, reject: leave } = Promise.withResolvers<never>();
        const caller = { loop, place: call.place, leave, calls: 0 };
        const output = callerCall.run(caller, () => work(decided));
        left.catch(() => undefined);
        const values = (value: unknown) => (isAsyncIterable(value) ? untilLeft(value, caller, left) : value);
        // A tool that leaves the loop returns nothing before the loop is stopped, which waits for this one.
        return isAsyncIterable(output) ? values(output) : Promise.race([output, left]).then(values);
      };
      return call.run({
        ...workOf(given, operation),
        input,
        execute: isCaller ? asCaller : work,
        isClients: execute === undefined,
        yields: isGenerator(execute),
      });
    },
  };
  return Object.assign({ ...rest }, running) as ToolSet[string];
}

/** The values that the code of a tool yields, which calls other tools between them; rejects as soon as `left` does. */
async function* untilLeft(
  values: AsyncIterable<unknown>,
  caller: CallerCall,
  left: Promise<never>,
): AsyncGenerator<unknown, undefined> {
  const iterator = values[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = callerCall.run(caller, () => iterator.next());
      const { done, value } = await Promise.race([next, left]);
      if (done) return;
      yield value;
    }
  } finally {
    const ended = callerCall.run(caller, () => iterator.return?.());
    // Code that waits for a tool that has left does not end.
    await Promise.race([ended, left.catch(() => undefined)]);
  }
}

/** Whether approvals and outputs from outside wait where the calls are recorded. */
export function decidesHere(loop: DurableLoop | undefined): boolean {
  const waits = loop?.recorder.waits;
  return waits !== undefined && waits.onlyTools !== true;
}

/** The parts of a recorded call that depend on its tool alone. */
function workOf(given: ToolSet[string], operation: Operation) {
  return {
    show: (parts: readonly DataChunk[]) => {
      for (const part of parts) operation.writeChunk(part);
    },
    used: (usage: AgentUsage) => operation.add(usage),
    parse: (edited: unknown) => parsed(given.inputSchema, edited),
    inputSchema: async () => ({ ...(await asSchema(given.inputSchema).jsonSchema) }),
    outputSchema: async () => given.outputSchema && { ...(await asSchema(given.outputSchema).jsonSchema) },
  };
}

/** The names that a search has found are recorded: the AI SDK makes their tools known again when the loop runs again. */
function searchWithin(
  name: string,
  given: ToolSet[string],
  operation: Operation,
  { guard, searches }: ToolSurroundings,
): ToolSet[string] {
  const search = searchOf(given);
  return withSearch(given, ({ query, tools }: ToolQuery) => {
    const { toolCallId = name } = searches?.take(name, query) ?? {};
    const input = { query };
    const execute = async () => {
      await guard?.({ toolName: name, toolCallId, input });
      return search({ query, tools });
    };
    const call = callOf(operation.loop, toolCallId, name);
    return call === undefined
      ? execute()
      : call.run({ ...workOf(given, operation), input, execute, isClients: false, yields: false });
  });
}

/** The host's own context of the tool, else the operation: as a plain object where no schema asks for it. */
function contextOf(given: unknown, schema: ToolSet[string]["contextSchema"], inside: Operation): unknown {
  if (given !== undefined) return given;
  return schema === undefined ? plainOperation(inside) : inside;
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

/** Work beside the calls of an agent, such as a summary: recorded at a place of its own, and counted with the operation. */
export function operationInside(above: Operation, place: string): Operation {
  return new InnerOperation(above, above.loop?.inside(place));
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

  override async keepFact(change: FactChange): Promise<void> {
    this.#call.keeps(change);
  }

  override writeChunk(chunk: DataChunk): void {
    this.#call.wrote(chunk);
    super.writeChunk(chunk);
  }

  override countUnrecorded(agentId: string, usage: CountedTokens): AgentUsage {
    const counted = super.countUnrecorded(agentId, usage);
    this.#call.used(counted);
    this.usedBy(this.#call);
    return counted;
  }
}
