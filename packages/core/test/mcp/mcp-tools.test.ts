// The tools of MCP servers in an agent: called like its own, recorded like its own, and checked when they are defined.
import { tool } from "ai";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import { Operation } from "../../src/agent/call/operation.ts";
import { mcpTools } from "../../src/agent/mcp/index.ts";
import { McpConnection } from "../../src/agent/mcp/mcp-connection.ts";
import { checkServer } from "../../src/agent/mcp/mcp-server.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import { DefinitionError, McpServerGoneError } from "../../src/errors/index.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import { createWorkflow } from "../../src/workflow/create-workflow.ts";
import { controlledModel } from "../support/controlled-model.ts";
import { inTime } from "../support/in-time.ts";
import { adding, call, open, relay, server } from "./mcp-agent.ts";

test("a tool of a server is called like one's own, also under a prefix", async () => {
  const { url } = await server();
  const tools = mcpTools({ sums: { url, prefix: "sums_" } });
  const { text } = open(new Agent({ id: "a", model: relay(call("sums_add", { one: 2, two: 3 })), tools }));
  expect(await text()).toContain('"text":"5"');
});

test("a tool is also called without a signal that could stop it", async () => {
  const { url } = await server();
  const connection = new McpConnection(checkServer("sums", { url }));
  onTestFinished(() => connection.close());
  const { add } = await connection.tools(new RecordingLogger());
  const options = { toolCallId: "c", messages: [], context: {} };
  const output = await inTime(Promise.resolve(add?.execute?.({ one: 2, two: 3 }, options)), "the output");
  expect(output).toMatchObject({ content: [{ text: "5" }] });
});

test("tools that two share stay open until the last of them has closed", async () => {
  const { url } = await server();
  const tools = mcpTools({ sums: { url } });
  const [first, second] = ["a", "b"].map((id) => open(new Agent({ id, model: relay(adding), tools })));
  await first?.text();
  await second?.text();
  await first?.andante.close();
  expect(await second?.text()).toContain('"text":"5"');
});

test("in a workflow its call is a checkpoint, which is not made again", async () => {
  const heard: string[] = [];
  const { url } = await server((name) => heard.push(name));
  let asked = 0;
  // The second call of the model fails, and with it the first attempt of the step.
  const model = controlledModel(({ prompt }) => {
    asked++;
    if (asked === 1) return adding;
    return asked === 2 ? { refuse: new Error("broken") } : { text: [JSON.stringify(prompt.at(-1)?.content)] };
  });
  const agent = new Agent({ id: "a", model, tools: mcpTools({ sums: { url } }) });
  const workflow = createWorkflow({ id: "sum", input: z.object({}) }).andAgent({
    id: "ask",
    agent,
    prompt: "go",
    retry: { attempts: 2, delay: 1 },
  });
  const andante = createAndante({ workflows: { workflow }, store: memoryStore() });
  onTestFinished(() => andante.close());
  const { executionId, result } = await andante.execute("sum", {});
  expect(result).toMatchObject({ text: expect.stringContaining('"text":"5"') });
  expect(asked).toBe(3);
  const events = await andante.events("sum", executionId);
  const paths = events.flatMap(({ type, stepPath }) => (type === "checkpoint-complete" ? [stepPath] : []));
  expect(paths).toEqual(["ask#call[0]", "ask#call[0].tool[0]", "ask#call[1]"]);
  expect(heard).toEqual(["add"]);
});

test("a server is a command with its arguments and environment, or an address", () => {
  const times = { prefix: "files_", timeout: "2s", connectTimeout: 500 } as const;
  const command = { command: "files", args: ["--all"], env: { HOME: "/" }, cwd: "/", ...times };
  const checked = { prefix: "files_", timeout: 2000, connectTimeout: 500 };
  expect(checkServer("a", command)).toEqual({ name: "a", server: command, ...checked, place: "files" });
  const address = { url: "http://x.example/mcp?key=k", headers: { authorization: "Bearer t" } };
  const defaults = { prefix: "", timeout: 60_000, connectTimeout: 10_000 };
  expect(checkServer("b", address)).toEqual({
    ...{ name: "b", server: address, ...defaults },
    place: "http://x.example/mcp",
  });
});

describe("a definition that cannot work is refused", () => {
  test("an address that is not one, a misspelled option, a wrong prefix", () => {
    expect(() => mcpTools({ a: { url: "file:///x" } })).toThrow(
      'mcpTools, server "a": needs a command, or an http(s) url',
    );
    const misspelled = { url: "http://x.example", timeOut: 1 };
    expect(() => mcpTools({ a: misspelled })).toThrow("timeOut");
    expect(() => mcpTools({ a: { url: "http://x.example", prefix: "a.b" } })).toThrow(DefinitionError);
  });

  test.each([
    ["", true],
    ["Files-2_", true],
    ["x".repeat(32), true],
    ["x".repeat(33), false],
    ["a.b", false],
    ["a b", false],
    [" ab", false],
  ])("the prefix %j is accepted: %s", (prefix, isAccepted) => {
    const checked = () => checkServer("a", { url: "https://x.example", prefix }).prefix;
    if (isAccepted) expect(checked()).toBe(prefix);
    else expect(checked).toThrow('mcpTools, server "a": a prefix has at most 32 letters, digits, _ and -');
  });

  test.each(["x.example", "ftp://x.example", "xhttp://x.example", "httpsx://x.example"])(
    "the address %s",
    (url) => {
      expect(() => checkServer("a", { url })).toThrow(
        'mcpTools, server "a": needs a command, or an http(s) url',
      );
    },
  );

  test("a duration that is none, by the name of its option", () => {
    const url = "https://x.example";
    expect(() => checkServer("a", { url, timeout: -1 })).toThrow('mcpTools, server "a", timeout');
    expect(() => checkServer("a", { url, connectTimeout: -1 })).toThrow(
      'mcpTools, server "a", connectTimeout',
    );
  });

  test("an option that belongs to the other kind of server", () => {
    const both = { command: "files", url: "https://x.example" };
    expect(() => checkServer("a", both)).toThrow("url");
    const args = { url: "https://x.example", args: [] };
    expect(() => checkServer("a", args)).toThrow("args");
    const misspelled: object = { tool: {} };
    expect(() => mcpTools({}, misspelled)).toThrow("tool");
  });

  test("a tool of the host's own with the name of a server's", async () => {
    const { url } = await server();
    const own = tool({ inputSchema: z.object({}), execute: () => "own" });
    const context = Operation.from(undefined, undefined);
    const clash = mcpTools({ one: { url } }, { tools: { add: own } });
    onTestFinished(() => clash.close());
    await expect(clash(context)).rejects.toThrow(
      'mcpTools: your own tools and the MCP server one both have a tool "add"; give a server a prefix',
    );
    const beside = mcpTools({ one: { url, prefix: "one_" } }, { tools: { add: own } });
    onTestFinished(() => beside.close());
    const both = await beside(context);
    expect(Object.keys(both).slice(0, 2)).toEqual(["add", "one_add"]);
    expect(both.add).toBe(own);
  });

  test("two tools of one name", async () => {
    const { url } = await server();
    const tools = mcpTools({ one: { url }, two: { url } });
    const { andante } = open(new Agent({ id: "a", model: relay(adding), tools }));
    await expect(andante.agents.text("a", "go")).rejects.toThrow(
      'the MCP server one and the MCP server two both have a tool "add"',
    );
  });
});

test("the lines about a server that is gone, and back, name it and its place, without secrets", async () => {
  const first = await server();
  const lines = new RecordingLogger();
  const connection = new McpConnection(checkServer("sums", { url: `${first.url}?key=hunter2` }));
  onTestFinished(() => connection.close());
  await first.stop();
  await expect(connection.tools(lines)).rejects.toThrow(McpServerGoneError);
  await server(undefined, first.port);
  await connection.tools(lines);
  const where = { mcpServer: "sums", place: first.url };
  expect(lines.lines).toEqual([
    { level: "warn", msg: "an MCP server is gone", ...where, err: expect.any(McpServerGoneError) },
    { level: "info", msg: "an MCP server is back", ...where },
  ]);
});
