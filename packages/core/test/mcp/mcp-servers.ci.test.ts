// MCP servers that go away and come back, over HTTP and over standard input and output; calls bounded in time.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { mcpTools } from "../../src/agent/mcp/index.ts";
import { McpServerGoneError } from "../../src/errors/index.ts";
import { adding, call, open, relay, server } from "./mcp-agent.ts";

test("the model reads the refusal of a tool, and the server counts as reachable", async () => {
  const { url } = await server();
  const { text, logger } = open(
    new Agent({ id: "a", model: relay(call("refuse")), tools: mcpTools({ sums: { url } }) }),
  );
  expect(await text()).toContain("not today");
  expect(logger.messages).toEqual([]);
});

test("a server that was started again is connected again, and the call that found out is made once", async () => {
  const heard: string[] = [];
  const first = await server();
  const { text, logger } = open(
    new Agent({ id: "a", model: relay(adding), tools: mcpTools({ sums: { url: first.url } }) }),
  );
  expect(await text()).toContain('"text":"5"');
  await first.stop();
  await server((name) => heard.push(name), first.port);
  expect(await text()).toContain('"text":"5"');
  expect(heard).toEqual(["add"]);
  expect(logger.messages).toEqual([]);
});

test("while a server is away its tools fail with its name, once in the log; then it is back", async () => {
  const first = await server();
  const { text, logger } = open(
    new Agent({ id: "a", model: relay(adding), tools: mcpTools({ sums: { url: first.url } }) }),
  );
  await text();
  await first.stop();
  expect(await text()).toContain("The MCP server sums is gone: it cannot be reached");
  expect(await text()).toContain("The MCP server sums is gone");
  expect(logger.messages.filter((line) => line.includes("MCP"))).toEqual(["an MCP server is gone"]);
  await server(undefined, first.port);
  expect(await text()).toContain('"text":"5"');
});

test("a server that goes away during a call fails that call at once, and it is not repeated", async () => {
  const heard: string[] = [];
  const waiting = Promise.withResolvers<void>();
  const first = await server((name) => {
    heard.push(name);
    waiting.resolve();
  });
  const { text } = open(
    new Agent({ id: "a", model: relay(call("wait")), tools: mcpTools({ sums: { url: first.url } }) }),
  );
  const reply = text();
  await waiting.promise;
  await first.stop();
  expect(await reply).toContain("it went away during the call of wait");
  expect(heard).toEqual(["wait"]);
});

test("a server that was never there fails the reply", async () => {
  const { url, stop } = await server();
  await stop();
  const { andante } = open(new Agent({ id: "a", model: relay(adding), tools: mcpTools({ sums: { url } }) }));
  await expect(andante.agents.text("a", "go")).rejects.toThrow(McpServerGoneError);
});

test("a call that takes too long ends, and the next one uses the same connection", async () => {
  const { url } = await server();
  const tools = mcpTools({ sums: { url, timeout: 50 } });
  const { text } = open(new Agent({ id: "a", model: relay(call("wait"), adding), tools }));
  const said = await text();
  expect(said).toContain('"text":"5"');
  const slow = open(new Agent({ id: "b", model: relay(call("wait")), tools }));
  expect(await slow.text()).toContain(
    "The tool wait of the MCP server sums did not reply within 0.05 seconds",
  );
});

test("connections end with the last Andante that uses the agent", async () => {
  const { url } = await server();
  const tools = mcpTools({ sums: { url } });
  const ended: string[] = [];
  const agent = new Agent({ id: "a", model: relay(adding), tools });
  const [one, two] = [open(agent), open(new Agent({ id: "b", model: relay(adding), subAgents: [agent] }))];
  await one.text();
  const { fetch } = globalThis;
  onTestFinished(() => {
    globalThis.fetch = fetch;
  });
  globalThis.fetch = (input, init) => {
    if (init?.method === "DELETE") ended.push(String(input));
    return fetch(input, init);
  };
  await one.andante.close();
  expect(ended).toEqual([]);
  await two.andante.close();
  expect(ended).toEqual([url]);
});

describe("a server in a process of its own, over standard input and output", { timeout: 60_000 }, () => {
  const command = {
    command: process.execPath,
    args: [path.join(import.meta.dirname, "../support/mcp-server.ts")],
  };
  const pidIn = (text: string) => Number(/"text":"(\d+)"/.exec(text)?.[1]);

  test("is started, killed and started again; during a call it fails at once", async () => {
    const tools = mcpTools({ files: command });
    const { text, andante } = open(new Agent({ id: "a", model: relay(call("pid")), tools }));
    const dying = open(new Agent({ id: "b", model: relay(call("die")), tools }));
    const first = pidIn(await text());
    expect(await dying.text()).toContain("The MCP server files is gone: it went away during the call of die");
    const second = pidIn(await text());
    expect(second).not.toBe(first);
    process.kill(second, "SIGKILL");
    // A call right after the end may still meet the process that is gone.
    await expect.poll(text).toMatch(/"text":"\d+"/);
    const third = pidIn(await text());
    expect(third).not.toBe(second);
    await Promise.all([andante.close(), dying.andante.close()]);
    await expect.poll(() => isAlive(third)).toBe(false);
  });

  test("is started in its folder, with its environment", async () => {
    const files = { ...command, env: { GREETING: "hello" }, cwd: import.meta.dirname };
    const { text } = open(
      new Agent({ id: "a", model: relay(call("surroundings")), tools: mcpTools({ files }) }),
    );
    expect(await text()).toContain(`hello from ${import.meta.dirname}`);
  });

  test("a command that is not there fails the reply", async () => {
    const tools = mcpTools({ files: { command: "no-such-program" } });
    const { andante } = open(new Agent({ id: "a", model: relay(call("pid")), tools }));
    await expect(andante.agents.text("a", "go")).rejects.toThrow(McpServerGoneError);
  });
});

test("a server over HTTP in a process of its own is killed and started again", {
  timeout: 60_000,
}, async () => {
  const spare = await server();
  await spare.stop();
  let child = await startChild(spare.port);
  const { text } = open(
    new Agent({ id: "a", model: relay(call("pid")), tools: mcpTools({ far: { url: spare.url } }) }),
  );
  expect(await text()).toContain(`"text":"${child.pid}"`);
  await kill(child, spare.url);
  expect(await text()).toContain("The MCP server far is gone: it cannot be reached");
  child = await startChild(spare.port);
  expect(await text()).toContain(`"text":"${child.pid}"`);
});

async function startChild(port: number): Promise<ChildProcess> {
  const file = path.join(import.meta.dirname, "../support/mcp-server.ts");
  const child = spawn(process.execPath, [file, String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

async function kill(child: ChildProcess, url: string): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
  await fetch(url).catch(() => undefined);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
