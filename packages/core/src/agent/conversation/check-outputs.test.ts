// Outputs of client-side tools are checked with their schemas; those of tools that ran here, and checked ones, are not.
import { jsonSchema, type ToolSet, tool, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { checkOutputs } from "./check-outputs.ts";

const schemas = { inputSchema: z.object({}), outputSchema: z.object({ at: z.string() }) };
const message = (output: unknown): UIMessage => ({
  id: "m",
  role: "assistant",
  parts: [{ type: "tool-locate", toolCallId: "c", state: "output-available", input: {}, output }],
});

test("an output that does not fit its schema is refused", async () => {
  const tools = { locate: tool(schemas) };
  await expect(checkOutputs(message({ at: "home" }), tools)).resolves.toBeUndefined();
  await expect(checkOutputs(message({ at: 5 }), tools)).rejects.toThrow(
    "the output of tool locate does not fit its schema",
  );
});

test("an output of many wrong elements is refused at the first of them", async () => {
  let checked = 0;
  const count = (value: unknown) => {
    checked++;
    return value;
  };
  const outputSchema = z.array(z.preprocess(count, z.number()));
  const tools = { locate: tool({ ...schemas, outputSchema }) };
  const refused = checkOutputs(message(Array.from({ length: 100_000 }, () => "x")), tools);
  await expect(refused).rejects.toThrow("the output of tool locate does not fit its schema");
  expect(checked).toBeLessThan(1000);
  await expect(checkOutputs(message(Array.from({ length: 2000 }, () => 1)), tools)).resolves.toBeUndefined();
});

test("that of a tool which runs here, or is not known, is not for the client to be asked about", async () => {
  const locate = tool({ ...schemas, execute: () => ({ at: "home" }) });
  await expect(checkOutputs(message({ at: 5 }), { locate })).resolves.toBeUndefined();
  await expect(checkOutputs(message({ at: 5 }), {})).resolves.toBeUndefined();
});

test("an output that was checked before is not checked again", async () => {
  const known = message({ at: 5 });
  const tools = { locate: tool(schemas) };
  await expect(checkOutputs({ ...known }, tools, known)).resolves.toBeUndefined();
});

test("only outputs are checked, of tools that have a schema for them and a way to check it", async () => {
  const [part] = message({ at: 5 }).parts;
  if (part?.type !== "tool-locate") throw new Error("no tool part");
  const call = { type: "tool-locate", toolCallId: "c", input: {} } as const;
  const others: UIMessage["parts"] = [
    { type: "text", text: "here" },
    { ...call, state: "input-available" },
    { ...call, state: "output-error", errorText: "no" },
  ];
  const tools = { locate: tool(schemas) };
  await expect(checkOutputs({ ...message(0), parts: others }, tools)).resolves.toBeUndefined();
  await expect(checkOutputs({ ...message(0), parts: [...others, part] }, tools)).rejects.toThrow(
    "input: the output of tool locate does not fit its schema",
  );
  const open: ToolSet = { locate: { inputSchema: schemas.inputSchema } };
  await expect(checkOutputs(message({ at: 5 }), open)).resolves.toBeUndefined();
  const unchecked = { locate: tool({ ...schemas, outputSchema: jsonSchema({ type: "object" }) }) };
  await expect(checkOutputs(message({ at: 5 }), unchecked)).resolves.toBeUndefined();
  const inherited: UIMessage = {
    ...message(0),
    parts: [{ ...call, type: "tool-constructor", state: "output-available", output: 1 }],
  };
  await expect(checkOutputs(inherited, tools)).resolves.toBeUndefined();
});

test("an output in another place than the known one is checked", async () => {
  const known = message({ at: 5 });
  const moved: UIMessage = { ...known, parts: [{ type: "text", text: "x" }, ...known.parts] };
  await expect(checkOutputs(moved, { locate: tool(schemas) }, known)).rejects.toThrow("does not fit");
});
