import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { createLogger, createWorkflow, memoryStore, sqliteStore } from "@andante/core";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { type RunningServer, type ServeOptions, serve } from "./serve.ts";

const logger = createLogger({ level: "silent" });
let server: RunningServer | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.close();
  server = undefined;
});

async function start(options: Partial<ServeOptions> = {}): Promise<RunningServer> {
  server = await serve({ store: memoryStore(), logger, handleSignals: false, ...options });
  return server;
}

async function busyPort() {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  return { other, port: typeof address === "object" && address !== null ? address.port : 0 };
}

async function freePort(): Promise<number> {
  const { other, port } = await busyPort();
  other.close();
  await once(other, "close");
  return port;
}

describe("the port", () => {
  test("0 is any free one, and the url names it", async () => {
    const { url } = await start({ port: 0 });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/);
    expect((await fetch(`${url}/workflows`)).status).toBe(200);
  });

  test("comes from PORT and HOST when the options have none", async () => {
    vi.stubEnv("PORT", "0");
    vi.stubEnv("HOST", "localhost");
    expect((await start()).url).toMatch(/^http:\/\/localhost:\d+$/);
  });

  test.each(["http", "-1", "65536", "3.5"])("%s in PORT is a clear error", async (port) => {
    vi.stubEnv("PORT", port);
    await expect(start()).rejects.toThrow(`Option PORT: "${port}" is not a port number`);
  });

  test("that is in use is a clear error, and the store is closed again", async () => {
    const { other, port } = await busyPort();
    const store = memoryStore();
    const close = vi.spyOn(store, "close");
    await expect(start({ port, store })).rejects.toThrow(
      `Option port: port ${port} on 127.0.0.1 is already in use`,
    );
    expect(close).toHaveBeenCalled();
    other.close();
  });
});

describe("while the store opens", () => {
  const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) }).andThen({
    id: "times-two",
    execute: ({ data }) => data.n * 2,
  });

  /** A server on a store that the test opens, and the address of its port. */
  async function opening() {
    const door = Promise.withResolvers<void>();
    const store = memoryStore();
    const open = store.open.bind(store);
    vi.spyOn(store, "open").mockImplementation(async () => {
      await door.promise;
      return open();
    });
    const port = await freePort();
    const starting = start({ port, store, workflows: { double } });
    const url = `http://127.0.0.1:${port}`;
    await expect.poll(() => fetch(`${url}/workflows`)).toBeDefined();
    return { door, starting, url };
  }

  const execute = (url: string) =>
    fetch(`${url}/workflows/double/execute`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"input":{"n":21}}',
    });

  test("the port is open: requests that need no store are answered, the rest wait for it", async () => {
    const { door, starting, url } = await opening();
    expect((await fetch(`${url}/workflows`)).status).toBe(200);
    const answered: string[] = [];
    const note = (name: string) => (response: Response) => {
      answered.push(name);
      return response.status;
    };
    const waiting = [
      execute(url).then(note("execution")),
      ...["/ready", "/health", "/metrics", "/api/logs", "/api/traces", "/api/executions"].map((path) =>
        fetch(url + path).then(note(path)),
      ),
    ];
    // The response to a later request shows that the earlier requests have arrived.
    expect((await fetch(`${url}/workflows/double`)).status).toBe(200);
    expect(answered).toEqual([]);
    door.resolve();
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => 200));
    await starting;
  });

  test("a socket waits too", async () => {
    const { door, starting, url } = await opening();
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws/logs`);
    const first = once(socket, "message");
    door.resolve();
    const [{ data }] = await first;
    expect(JSON.parse(data)).toMatchObject({ type: "initial", success: true });
    socket.close();
    await starting;
  });

  test("one that cannot be opened fails the start and closes the port; waiting requests end", async () => {
    const { door, starting, url } = await opening();
    const failed = expect(starting).rejects.toThrow("no such file");
    const waiting = execute(url).then(
      ({ status }) => status,
      () => "cut off",
    );
    await fetch(`${url}/workflows/double`);
    door.reject(new Error("no such file"));
    await failed;
    expect([503, "cut off"]).toContain(await waiting);
    await expect(fetch(`${url}/workflows`)).rejects.toThrow();
  });

  test("one that can be neither opened nor closed: the start fails with the reason of the opening", async () => {
    const store = memoryStore();
    vi.spyOn(store, "open").mockRejectedValue(new Error("no such file"));
    vi.spyOn(store, "close").mockRejectedValue(new Error("it is not open"));
    await expect(start({ port: 0, store })).rejects.toThrow("no such file");
  });

  test("a port in use does not wait for it, and it is closed as soon as it is open", async () => {
    const { other, port } = await busyPort();
    onTestFinished(() => void other.close());
    const door = Promise.withResolvers<void>();
    const store = memoryStore();
    const open = store.open.bind(store);
    const opened = vi.spyOn(store, "open").mockImplementation(() => door.promise.then(open));
    const heartbeat = vi.spyOn(store, "heartbeat");
    const close = vi.spyOn(store, "close");
    await expect(start({ port, store })).rejects.toThrow("is already in use");
    close.mockClear();
    door.resolve();
    await opened.mock.results[0]?.value;
    await expect.poll(() => close).toHaveBeenCalled();
    expect((await store.health()).problem).toBe("the store is not open");
    expect(heartbeat).not.toHaveBeenCalled();
  });
});

test("the line at the start has the location of the data, and the size of the file", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-serve-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "test.db");
  const lines: unknown[][] = [];
  const told = { ...logger, info: (...line: unknown[]) => void lines.push(line) };
  await start({ port: 0, store: sqliteStore({ path: file }), logger: told });
  const line = lines.find(([, text]) => text === "Andante is listening")?.[0];
  expect(line).toMatchObject({ store: file, bytes: expect.any(Number) });
  expect(Object(line).bytes).toBeGreaterThanOrEqual(statSync(file).size);
  await server?.close();
  server = undefined;
});

test("an IPv6 address is in brackets in the url", async () => {
  const { url } = await start({ port: 0, hostname: "::1" });
  expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  expect((await fetch(`${url}/workflows`)).status).toBe(200);
});

test("signals are left alone unless they are handled here", async () => {
  const before = process.listenerCount("SIGTERM");
  await start({ port: 0 });
  expect(process.listenerCount("SIGTERM")).toBe(before);
  await server?.close();
  await start({ port: 0, handleSignals: true });
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  await server?.close();
  expect(process.listenerCount("SIGTERM")).toBe(before);
});

test("SIGTERM ends the process with code 0, also while a body runs and a client waits", async () => {
  const script = `
    import { createWorkflow, createLogger, memoryStore } from "@andante/core";
    import { serve } from "@andante/server";
    import { z } from "zod";
    const stuck = createWorkflow({ id: "stuck", input: z.object({}) }).andThen({
      id: "wait", execute: () => { process.stdout.write("in\\n"); return new Promise(() => {}); } });
    const server = await serve({ workflows: { stuck }, store: memoryStore(), port: 0, grace: 20,
      logger: createLogger({ level: "silent" }) });
    process.stdout.write(server.url + "\\n");
  `;
  const arguments_ = ["--conditions=andante-source", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, arguments_, {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = child.stdout.setEncoding("utf8")[Symbol.asyncIterator]();
  const url = String((await lines.next()).value).trim();
  const waiting = fetch(`${url}/workflows/stuck/execute`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"input":{}}',
  });
  await lines.next();
  child.kill("SIGTERM");
  const response = await waiting;
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).not.toBeNull();
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("SIGTERM gives a body time to finish also before the start is done", async () => {
  const port = await freePort();
  const script = `
    import { createWorkflow, createLogger, memoryStore } from "@andante/core";
    import { serve } from "@andante/server";
    import { z } from "zod";
    const short = createWorkflow({ id: "short", input: z.object({}) }).andThen({
      id: "wait", execute: () => { process.kill(process.pid, "SIGTERM"); return new Promise((done) => setTimeout(done, 50, "done")); } });
    const store = memoryStore();
    store.health = () => new Promise(() => {});
    await serve({ workflows: { short }, store, port: ${port}, logger: createLogger({ level: "silent" }) });
  `;
  const arguments_ = ["--conditions=andante-source", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, arguments_, { cwd: import.meta.dirname, stdio: "inherit" });
  const ended = once(child, "exit");
  await expect.poll(() => fetch(`http://127.0.0.1:${port}/workflows`)).toBeDefined();
  const response = await fetch(`http://127.0.0.1:${port}/workflows/short/execute`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"input":{}}',
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ data: { result: "done" } });
  expect(await ended).toEqual([0, null]);
});

test("SIGTERM while the store opens ends the process as usual: who waits for the store gets 503", async () => {
  const script = `
    import { createWorkflow, createLogger, memoryStore } from "@andante/core";
    import { serve } from "@andante/server";
    import { z } from "zod";
    const double = createWorkflow({ id: "double", input: z.object({ n: z.number() }) }).andThen({
      id: "times-two", execute: ({ data }) => data.n * 2 });
    const store = memoryStore();
    const open = store.open.bind(store);
    store.open = async () => {
      await new Promise((resolve) => process.once("SIGTERM", resolve));
      return open();
    };
    await serve({ workflows: { double }, store, logger: createLogger({ level: "silent" }) });
  `;
  const port = await freePort();
  const arguments_ = ["--conditions=andante-source", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, arguments_, {
    cwd: import.meta.dirname,
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "inherit", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(() => fetch(`${url}/workflows`)).toBeDefined();
  const waiting = fetch(`${url}/workflows/double/execute`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"input":{"n":21}}',
  });
  await fetch(`${url}/workflows/double`);
  child.kill("SIGTERM");
  const response = await waiting;
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).not.toBeNull();
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("closing cuts a client that does not take its stream", async () => {
  const door = Promise.withResolvers<void>();
  const chatty = createWorkflow({ id: "chatty", input: z.object({}) })
    .andThen({ id: "big", execute: () => "x".repeat(3_000_000) })
    .andThen({ id: "bigger", execute: ({ data }) => data + data })
    .andThen({ id: "biggest", execute: ({ data }) => data + data })
    .andThen({
      id: "last",
      execute: async () => {
        door.resolve();
      },
    });
  const limits = { output: 20_000_000 };
  const { url, close } = await start({ port: 0, grace: 0, workflows: { chatty }, limits });
  const response = await fetch(`${url}/workflows/chatty/stream`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"input":{}}',
  });
  expect(response.status).toBe(200);
  await door.promise;
  await close();
  await expect(response.text()).rejects.toThrow();
});

test("a start that is refused closes all that it has opened: the file can be used again, and the process ends", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-refused-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { other, port } = await busyPort();
  const script = `
    import { createLogger, sqliteStore } from "@andante/core";
    import { createApp, serve } from "@andante/server";
    const configureApp = () => { throw new Error("refused by the host"); };
    const store = () => sqliteStore({ path: ${JSON.stringify(path.join(folder, "andante.db"))} });
    const logger = createLogger({ level: "silent" });
    const common = { hostname: "127.0.0.1", port: 0, logger };
    const refused = [
      { mcp: { expose: ["missing"] } },
      { configureApp },
      { limits: { queuedMessages: 0 } },
      { port: ${port} },
      { mcp: { expose: [], url: "no address" } },
    ];
    for (const options of refused)
      await serve({ ...common, store: store(), ...options }).catch(({ message }) => console.log(message));
    try {
      createApp({ store: store(), logger, configureApp });
    } catch ({ message }) {
      console.log(message);
    }
  `;
  const arguments_ = ["--conditions=andante-source", "--input-type=module", "--eval", script];
  const child = spawn(process.execPath, arguments_, {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const lines = await text(child.stdout);
  other.close();
  expect(lines.trim().split("\n")).toEqual([
    'Option mcp.expose: "missing" is neither a workflow nor an agent',
    "refused by the host",
    "Option limits.queuedMessages: expected a number of 1 or more",
    `Option port: port ${port} on 127.0.0.1 is already in use`,
    "Option mcp.url: expected an http(s) URL",
    "refused by the host",
  ]);
  expect(await exited).toEqual([0, null]);
});
