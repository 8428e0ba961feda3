// The context of a tool: the host's own for this tool, or the operation, as far as the tool's schema accepts it.
import { jsonSchema, type Schema, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { allInTime } from "../../../test/support/in-time.ts";
import type { ToolWork } from "../durable/tool-call.ts";
import { Operation, oneCall } from "./operation.ts";
import { type ToolGuard, toolsWithin } from "./tool-context.ts";

/** The AI SDK passes the host's context of the tool, unchecked; undefined without one. */
function run(contextSchema: z.ZodType | Schema<object> | undefined, own?: unknown) {
  const seen: unknown[] = [];
  const given = tool({
    inputSchema: z.object({}),
    execute: (_, { context }) => {
      seen.push(context);
      return "done";
    },
  });
  const operation = Operation.from(undefined, undefined);
  operation.context.set("user", { id: "ada" });
  const tools = { look: { ...given, ...(contextSchema && { contextSchema }) } };
  const { look } = toolsWithin(tools, operation);
  const options = Object({ toolCallId: "c", messages: [], context: own });
  const output = async () => look?.execute?.({}, options);
  return { output: output(), seen, operation };
}

/** The tool has seen the operation: its caller, its context, and its usage. */
function expectSeen(seen: readonly unknown[], operation: Operation) {
  const [context, ...others] = seen;
  if (!(context instanceof Operation)) throw new Error("the tool has seen no operation");
  expect(others).toEqual([]);
  expect(context.context).toBe(operation.context);
  expect(context.logger).toBe(operation.logger);
  context.add(oneCall({ totalTokens: 3 }));
  operation.add(oneCall({ totalTokens: 2 }));
  expect([context.usage.totalTokens, context.ownUsage.totalTokens]).toEqual([5, 3]);
  expect(context.usage).toBe(operation.usage);
}

test("the host's own for this tool comes first, as its schema returns it", async () => {
  const schema = z.object({ key: z.string(), retries: z.number().default(3) });
  const own = run(schema, { key: "k", other: 1 });
  expect(await own.output).toBe("done");
  expect(own.seen).toEqual([{ key: "k", retries: 3 }]);
  const refused = run(schema, {});
  await expect(refused.output).rejects.toThrow("the tool's contextSchema refused the context");
  expect(refused.seen).toEqual([]);
  const unchecked = run(undefined, "as it is");
  await unchecked.output;
  expect(unchecked.seen).toEqual(["as it is"]);
});

test("without a schema it is the operation as a plain object, which another agent accepts as the operation", async () => {
  const { output, seen, operation } = run(undefined);
  expect(await output).toBe("done");
  const [context] = seen;
  const { userId, conversationId, logger, signal } = operation;
  expect(context).toEqual({
    userId,
    conversationId,
    logger,
    signal,
    context: { user: { id: "ada" } },
    write: expect.any(Function),
  });
  expect(Object.getPrototypeOf(context)).toBe(Object.prototype);
  expectSeen([Operation.from(Object(context), undefined)], operation);
});

test("the operation itself, with its map, is that of a tool that asks for it", async () => {
  const { output, seen, operation } = run(jsonSchema<object>({ type: "object" }));
  expect(await output).toBe("done");
  expectSeen(seen, operation);
});

test("with one it is the output of the schema", async () => {
  const { output, seen } = run(z.object({ userId: z.undefined(), more: z.string().default("added") }));
  expect(await output).toBe("done");
  expect(seen).toEqual([{ userId: undefined, more: "added" }]);
});

test("a tool whose schema refuses it does not run", async () => {
  const { output, seen } = run(z.object({ tenant: z.string() }));
  await expect(output).rejects.toThrow(
    "the tool's contextSchema refused the context: Invalid input: expected string, received undefined",
  );
  expect(seen).toEqual([]);
});

describe("with a schema of the AI SDK's own", () => {
  const accepts = (validate?: Parameters<typeof jsonSchema<object>>[1]) =>
    run(jsonSchema<object>({ type: "object" }, validate));

  test("it is the value that the schema returns", async () => {
    const { output, seen } = accepts({ validate: () => ({ success: true, value: { made: true } }) });
    expect(await output).toBe("done");
    expect(seen).toEqual([{ made: true }]);
  });

  test("it is the operation itself when the schema does not check values", async () => {
    const { output, seen, operation } = accepts();
    expect(await output).toBe("done");
    expectSeen(seen, operation);
  });

  test("a tool whose schema refuses it does not run", async () => {
    const { output, seen } = accepts({ validate: () => ({ success: false, error: new Error("not you") }) });
    await expect(output).rejects.toThrow("not you");
    expect(seen).toEqual([]);
  });
});

test("a schema that takes its time is waited for", async () => {
  const later = z.object({ userId: z.undefined() }).refine(async () => true);
  const { output, seen } = run(later);
  expect(await output).toBe("done");
  expect(seen).toEqual([{ userId: undefined }]);
});

test("data parts of a recorded tool go to the reply", async () => {
  const operation = Operation.from(undefined, undefined);
  const part = { type: "data-weather", data: { hot: true } };
  const toolCall = (...asked: unknown[]) => ({
    run: ({ show }: { show: (parts: object[]) => void }) => {
      show([part]);
      return asked;
    },
  });
  const written: unknown[] = [];
  Object.assign(operation, {
    loop: { toolCall, inside: () => undefined },
    writeChunk: (chunk: unknown) => written.push(chunk),
  });
  const { look } = toolsWithin({ look: tool({ inputSchema: z.object({}), execute: () => 1 }) }, operation);
  const output = await look?.execute?.({}, options);
  expect(output).toEqual(["c", "look"]);
  expect(written).toEqual([part]);
});

test("where calls can wait, a client's tool waits for its output, and a provider's tool does not", () => {
  const operation = Operation.from(undefined, undefined);
  Object.assign(operation, { loop: { recorder: { waits: {} } } });
  const inputSchema = z.object({});
  const tools = toolsWithin(
    {
      plain: tool({ inputSchema }),
      dynamic: { type: "dynamic", inputSchema },
      theirs: { type: "provider", isProviderExecuted: true, id: "test.search", args: {}, inputSchema },
    },
    operation,
  );
  expect(Object.entries(tools).map(([name, { execute }]) => [name, execute !== undefined])).toEqual([
    ["plain", true],
    ["dynamic", true],
    ["theirs", false],
  ]);
});

const options = Object({ toolCallId: "c", messages: [], context: undefined });
const contextSchema = jsonSchema<Record<string, unknown>>({ type: "object" });

/** An operation whose calls are recorded, with the works that were begun and the events of its tool. */
function recorded() {
  const operation = Operation.from(undefined, undefined);
  const works: ToolWork[] = [];
  const events: unknown[] = [];
  const note =
    (name: string) =>
    (...given: unknown[]) =>
      void events.push([name, ...given]);
  const inner = {};
  const call = {
    ...{ place: "p", executionId: "e", path: "ask#call[0].tool[0]", attempt: 2, idempotencyKey: "e:ask" },
    ...{ emit: note("emit"), wrote: note("wrote"), used: note("used") },
    run: (work: ToolWork) => works.push(work),
  };
  const loop = {
    recorder: {},
    toolCall: () => call,
    inside: (place: string) => (place === "p" ? inner : null),
  };
  Object.assign(operation, { loop });
  return { operation, works, events, inner, call };
}

test("a recorded call hands over its input, its schemas and its function", async () => {
  const { operation, works } = recorded();
  const seen: unknown[] = [];
  const look = tool({
    inputSchema: z.object({ n: z.coerce.number() }),
    outputSchema: z.object({ city: z.string() }),
    execute: (input, { toolCallId }) => {
      seen.push([input, toolCallId]);
      return { city: "Bern" };
    },
  });
  const tools = toolsWithin(
    { look, plain: tool({ inputSchema: z.object({}), execute: () => 1 }) },
    operation,
  );
  await tools.look?.execute?.({ n: 1 }, options);
  await tools.plain?.execute?.({}, options);
  const [work, plain] = works;
  expect(work).toMatchObject({ input: { n: 1 }, isClients: false, yields: false });
  expect(await work?.execute({ n: 2 })).toEqual({ city: "Bern" });
  expect(seen).toEqual([[{ n: 2 }, "c"]]);
  expect(await work?.parse({ n: "5" })).toEqual({ n: 5 });
  await expect(work?.parse({ n: "five" })).rejects.toThrow("the input does not fit its schema: n: ");
  expect(await work?.inputSchema()).toMatchObject({ type: "object", properties: { n: { type: "number" } } });
  expect(await work?.outputSchema()).toMatchObject({ properties: { city: { type: "string" } } });
  expect(await plain?.outputSchema()).toBeUndefined();
  work?.used({ inputTokens: 1, outputTokens: 2, totalTokens: 3, calls: 1 });
  expect(operation.usage).toMatchObject({ totalTokens: 3, calls: 1 });
});

test("the context of a recorded call has its place, and passes data and usage on to the reply", async () => {
  const { operation, works, events, inner, call } = recorded();
  const contexts: Operation[] = [];
  const look = tool({
    inputSchema: z.object({}),
    contextSchema,
    execute: (_, { context }) => {
      if (context instanceof Operation) contexts.push(context);
    },
  });
  await toolsWithin({ look }, operation).look?.execute?.({}, options);
  await works[0]?.execute({});
  const [context] = contexts;
  if (context === undefined) throw new Error("the tool did not run");
  expect(context).toMatchObject({
    ...{ executionId: "e", stepPath: "ask#call[0].tool[0]", attempt: 2, idempotencyKey: "e:ask" },
    ...{ loop: inner, telemetry: undefined },
  });
  const chunks: unknown[] = [];
  operation.writer.readBy((chunk) => chunks.push(chunk));
  context.write({ type: "data-step", data: 1 });
  Reflect.apply(Reflect.get(context, "emit"), undefined, ["news", { n: 1 }]);
  context.add({ inputTokens: 1, outputTokens: 1, totalTokens: 2, calls: 1 });
  context.countUnrecorded("a", { inputTokens: 2, outputTokens: 3, totalTokens: 5 });
  const part = { type: "data-step", data: 1 };
  const used = { inputTokens: 2, outputTokens: 3, totalTokens: 5, calls: 1 };
  expect(chunks).toEqual([part]);
  expect(events).toEqual([
    ["wrote", part],
    ["emit", "news", { n: 1 }],
    ["used", expect.objectContaining(used)],
  ]);
  expect(context.usage).toBe(operation.usage);
  expect(operation.usage).toMatchObject({ inputTokens: 3, outputTokens: 4, totalTokens: 7, calls: 2 });
  Object.assign(call, { unrecorded: used });
  Object.assign(operation, { loop: undefined });
  expect(operation.unrecorded).toMatchObject(used);
});

test("a client's tool is handed over as one where calls can wait", async () => {
  const { operation, works } = recorded();
  Object.assign(operation.loop ?? {}, { recorder: { waits: {} } });
  await toolsWithin({ look: tool({ inputSchema: z.object({}) }) }, operation).look?.execute?.({}, options);
  expect(works).toMatchObject([{ isClients: true, yields: false }]);
  expect(works[0]?.execute({})).toBeUndefined();
});

test("a guard is asked before a tool runs, also before one that yields", async () => {
  const operation = Operation.from(undefined, undefined);
  const asked: unknown[] = [];
  let isAllowed = true;
  const guard: ToolGuard = async (call) => {
    asked.push(call);
    if (!isAllowed) throw new Error("not now");
  };
  const inputSchema = z.object({ n: z.number() });
  const one = tool({ inputSchema, execute: ({ n }) => n });
  const many = tool({
    inputSchema,
    async *execute({ n }) {
      yield n;
      yield n + 1;
    },
  });
  const tools = toolsWithin({ one, many }, operation, { guard });
  const yielded = () => tools.many?.execute?.({ n: 5 }, options);
  expect(await tools.one?.execute?.({ n: 4 }, options)).toBe(4);
  expect(await allInTime(Object(yielded()), "the values")).toEqual([5, 6]);
  expect(asked).toEqual([
    { toolName: "one", toolCallId: "c", input: { n: 4 } },
    { toolName: "many", toolCallId: "c", input: { n: 5 } },
  ]);
  isAllowed = false;
  await expect(tools.one?.execute?.({ n: 4 }, options)).rejects.toThrow("not now");
  await expect(allInTime(Object(yielded()), "the values")).rejects.toThrow("not now");
});

test("a tool that yields is handed over as one, and its schema of the context is not given to the AI SDK", async () => {
  const { operation, works } = recorded();
  const many = tool({
    inputSchema: z.object({}),
    contextSchema: z.object({}),
    async *execute() {
      yield 1;
    },
  });
  const { many: bound } = toolsWithin({ many }, operation);
  await bound?.execute?.({}, options);
  expect(works).toMatchObject([{ yields: true, isClients: false }]);
  const { contextSchema: _, ...rest } = many;
  expect(bound).toEqual({ ...rest, execute: expect.any(Function) });
});

test("where no call is recorded, a client's tool stays as it is", () => {
  const inputSchema = z.object({});
  const { look } = toolsWithin({ look: tool({ inputSchema }) }, Operation.from(undefined, undefined));
  expect(look).toEqual({ inputSchema });
});

test("a tool that yields may have a schema of the context that takes its time, with a guard and without", async () => {
  const seen: unknown[] = [];
  const validate = async () => ({ success: true as const, value: { made: true } });
  const many = tool({
    inputSchema: z.object({}),
    async *execute(_, { context }) {
      seen.push(context);
      yield 1;
      yield 2;
    },
  });
  const contextSchema = jsonSchema<object>({ type: "object" }, { validate });
  const operation = Operation.from(undefined, undefined);
  for (const guard of [undefined, async () => undefined]) {
    const bound = toolsWithin({ many: { ...many, contextSchema } }, operation, { guard }).many;
    expect(await allInTime(Object(bound?.execute?.({}, options)), "the values")).toEqual([1, 2]);
  }
  expect(seen).toEqual([{ made: true }, { made: true }]);
});

test("the operation of a tool's call observes as the operation above does", async () => {
  const { operation, works } = recorded();
  const telemetry = () => ({});
  Object.assign(operation, { telemetry });
  const seen: unknown[] = [];
  const look = tool({
    inputSchema: z.object({}),
    contextSchema,
    execute: (_, { context }) => seen.push(context),
  });
  await toolsWithin({ look }, operation).look?.execute?.({}, options);
  await works[0]?.execute({});
  expect(seen).toEqual([expect.objectContaining({ telemetry })]);
});
