// The example as a whole: nodes are killed under load, and nothing is lost. And its proxy, in front of real servers.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";
import { createLogger, memoryStore } from "@andante/core";
import { serve } from "@andante/server";
import { expect, onTestFinished, test } from "vitest";
import { startProxy } from "./proxy.ts";
import { order } from "./workflows.ts";

// Restate has no server for Windows.
const stores = [
  { store: "PostgreSQL", least: 11, kills: 3, args: ["--seconds", "9"] },
  ...(process.platform === "win32"
    ? []
    : [
        {
          store: "Restate, with two of its servers",
          least: 5,
          kills: 5,
          args: ["--restate", "--seconds", "20"],
        },
      ]),
];
test.each(stores)(
  "kills under load lose nothing on $store",
  { timeout: 240_000 },
  async ({ args: given, kills, least }) => {
    const main = path.join(import.meta.dirname, "main.ts");
    const load = ["--kills", String(kills), "--customers", "10"];
    const args = ["--conditions=andante-source", main, ...load, ...given];
    const child = spawn(process.execPath, args);
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    expect(errors, `stderr: ${JSON.stringify(errors)}`).toBe("");
    expect(code, `stdout: ${JSON.stringify(output)}`).toBe(0);
    expect(output.match(/Killed/g)).toHaveLength(kills);
    const [, started, ended] = /started (\d+) {2}ended (\d+) {2}lost 0 /.exec(output) ?? [];
    expect(Number(started)).toBeGreaterThanOrEqual(least);
    expect(ended).toBe(started);
  },
);

test("the proxy takes one node after the other, passes over one that is gone, and passes events and sockets through", async () => {
  const logger = createLogger({ level: "silent" });
  const start = () =>
    serve({ workflows: { order }, store: memoryStore(), port: 0, handleSignals: false, logger });
  const servers = await Promise.all([start(), start()]);
  onTestFinished(async () => {
    await Promise.all(servers.map((server) => server.close()));
  });
  const gone = "http://127.0.0.1:1";
  const proxy = await startProxy(() => [gone, ...servers.map(({ url }) => url)]);
  onTestFinished(() => proxy.close());
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ input: { number: 2 } });
  for (let time = 0; time < 6; time++) {
    const response = await fetch(`${proxy.url}/workflows/order/execute`, { method: "POST", headers, body });
    expect(await response.json()).toMatchObject({ data: { result: { number: 2, total: 11 } } });
  }
  for (const { andante } of servers) expect((await andante.list()).executions.length).toBeGreaterThan(0);

  const stream = await fetch(`${proxy.url}/workflows/order/stream`, { method: "POST", headers, body });
  expect(stream.headers.get("content-type")).toContain("text/event-stream");
  expect(await stream.text()).toContain("workflow-result");

  const socket = new WebSocket(`${proxy.url.replace("http", "ws")}/ws`);
  await once(socket, "open");
  const echoed = new Promise((resolve) => {
    socket.addEventListener("message", ({ data }) => String(data).includes("over here") && resolve(data));
  });
  socket.send("over here");
  expect(String(await echoed)).toContain("over here");
  socket.close();
});

test("a proxy without nodes answers 503", async () => {
  const proxy = await startProxy(() => []);
  onTestFinished(() => proxy.close());
  const response = await fetch(proxy.url);
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
});
