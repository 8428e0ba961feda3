// Outputs of client-side tools are checked with their schemas; those of tools that ran here, and checked ones, are not.
import { tool, type UIMessage } from "ai";
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
