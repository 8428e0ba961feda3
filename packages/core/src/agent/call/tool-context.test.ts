// The context of a tool: the operation, as far as its own schema accepts it.
import { jsonSchema, type Schema, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Operation } from "./operation.ts";
import { toolsWithin } from "./tool-context.ts";

function run(contextSchema: z.ZodType | Schema<object> | undefined) {
  const seen: unknown[] = [];
  const given = tool({
    inputSchema: z.object({}),
    execute: (_, { context }) => {
      seen.push(context);
      return "done";
    },
  });
  const operation = Operation.from(undefined, undefined);
  const { look } = toolsWithin({ look: { ...given, ...(contextSchema && { contextSchema }) } }, operation);
  const output = async () => look?.execute?.({}, { toolCallId: "c", messages: [], context: {} });
  return { output: output(), seen, operation };
}

test("without a schema it is the operation itself", async () => {
  const { output, seen, operation } = run(undefined);
  expect(await output).toBe("done");
  expect(seen).toEqual([operation]);
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
    expect(seen).toEqual([operation]);
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
  const output = await look?.execute?.({}, { toolCallId: "c", messages: [], context: {} });
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
