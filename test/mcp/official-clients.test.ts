// The official TypeScript clients of both generations: the one of 2026 in both of its modes, and the one of 2025.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, onTestFinished, test } from "vitest";
import { gates } from "../support/gates.ts";
import { dataOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const info = { name: "official", version: "1" };
const serve = () => serveForTest({ mcp: { expose: ["sum", "approval"] } });

async function connected(url: string, mode: "auto" | "legacy") {
  const client = new Client(info, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode },
  });
  client.setRequestHandler("elicitation/create", async () => ({
    action: "accept",
    content: { approved: true },
  }));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  onTestFinished(() => client.close());
  return client;
}

test("the client of 2026 calls a tool, and answers the question of an execution by itself", async () => {
  const { url } = await serve();
  const client = await connected(url, "auto");
  expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["sum", "approval"]);
  const { structuredContent } = await client.callTool({ name: "sum", arguments: { a: 2, b: 5 } });
  expect(structuredContent).toEqual({ total: 7 });
  const approved = await client.callTool({ name: "approval", arguments: { topic: "tea" } });
  expect(approved.structuredContent).toMatchObject({ published: true });
  const { resources } = await client.listResources();
  expect(resources.length).toBeGreaterThanOrEqual(2);
  const [journal] = (await client.readResource({ uri: String(resources[0]?.uri) })).contents;
  expect(JSON.stringify(journal)).toContain("workflow-start");
});

test.each(["auto", "legacy"] as const)(
  "progress comes from the events of the execution, in the mode %s",
  async (mode) => {
    const { url } = await serveForTest({ mcp: { expose: ["gated"] } });
    const client = await connected(url, mode);
    const door = `mcp-progress-${mode}`;
    const seen: unknown[] = [];
    const onprogress = ({ progress, message }: { progress: number; message?: string | undefined }) => {
      seen.push([progress, message]);
      gates.open(door);
    };
    const { structuredContent } = await client.callTool(
      { name: "gated", arguments: { door } },
      { onprogress },
    );
    expect(structuredContent).toEqual({ passed: door });
    expect(seen[0]).toEqual([expect.any(Number), expect.stringMatching(/^(workflow|step)-/)]);
  },
);

test("the client of 2026 in its mode for older servers gets the way to decide", async () => {
  const { url } = await serve();
  const client = await connected(url, "legacy");
  expect((await client.callTool({ name: "sum", arguments: { a: 1 } })).structuredContent).toEqual({
    total: 2,
  });
  const waiting = await client.callTool({ name: "approval", arguments: { topic: "tea" } });
  expect(waiting.structuredContent).toMatchObject({ status: "suspended", decide: expect.any(String) });
});

test("the client of 2025 gets results and the way to decide, which fits the schema of the output", async () => {
  const { url, post } = await serve();
  const client = new OldClient(info);
  await client.connect(new OldTransport(new URL(`${url}/mcp`)));
  onTestFinished(() => client.close());
  // Lists the tools first: the client then checks each result with the schema of its tool.
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["sum", "approval"]);
  const sum = await client.callTool({ name: "sum", arguments: { a: 2, b: 5 } });
  expect(sum.structuredContent).toEqual({ total: 7 });
  const waiting = await client.callTool({ name: "approval", arguments: { topic: "tea" } });
  const { executionId } = Object(waiting.structuredContent);
  const path = `/workflows/approval/executions/${executionId}/resume`;
  expect(dataOf(await post(path, { resumeData: { approved: true } })).status).toBe("completed");
  await expect(client.callTool({ name: "none" })).rejects.toThrow("Unknown tool: none");
});
