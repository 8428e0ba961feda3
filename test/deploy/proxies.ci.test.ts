// Real nginx and Caddy with the files of deploy/: events come one by one, sockets echo, large bodies pass, both ways.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createWorkflow } from "@andante/core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { freePort } from "../../examples/cluster/src/free-ports.ts";
import { EventReader } from "../support/event-reader.ts";
import { gates } from "../support/gates.ts";
import { installedProgram } from "../support/installed-program.ts";
import { call, postOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { SocketClient } from "../support/socket-client.ts";

const deploy = path.resolve(import.meta.dirname, "../../deploy");
const folder = mkdtempSync(path.join(tmpdir(), "andante-proxies-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const length = createWorkflow({ id: "length", input: z.object({ text: z.string() }) }).andThen({
  id: "measure",
  execute: ({ data }) => data.text.length,
});
const echo = createWorkflow({ id: "echo", input: z.object({ text: z.string() }) }).andThen({
  id: "back",
  execute: ({ data }) => data.text,
});
const slow = createWorkflow({ id: "slow", input: z.object({ door: z.string() }) }).andThen({
  id: "pass",
  execute: ({ data }) => gates.pass(data.door),
});
const node = serveForTest({ workflows: { length, echo, slow } });

interface Proxy {
  readonly name: string;
  /** Writes the file for these ports and returns how the program is started. */
  start(listen: number, upstream: string): ChildProcess;
}

const program = (name: string) => installedProgram(name) ?? name;

const proxies: readonly Proxy[] = [
  {
    name: "nginx",
    start(listen, upstream) {
      const site = readFileSync(path.join(deploy, "nginx.conf"), "utf8")
        .replace("listen 80;", `listen 127.0.0.1:${listen};`)
        .replace("127.0.0.1:3141", upstream);
      const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
        (kind) => `${kind}_temp_path ${folder}/${kind};`,
      );
      const file = path.join(folder, "nginx.conf");
      writeFileSync(
        file,
        `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
        events {} http { access_log off; ${places.join(" ")} ${site} }`,
      );
      return spawn(program("nginx"), ["-c", file, "-p", folder, "-e", "stderr"], { stdio: "ignore" });
    },
  },
  {
    name: "caddy",
    start(listen, upstream) {
      const site = readFileSync(path.join(deploy, "Caddyfile"), "utf8")
        .replace("andante.example.com", `http://127.0.0.1:${listen}`)
        .replace("127.0.0.1:3141", upstream);
      const file = path.join(folder, "Caddyfile");
      writeFileSync(file, `{\n admin off\n}\n${site}`);
      const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
      const how = ["run", "--config", file, "--adapter", "caddyfile"];
      return spawn(program("caddy"), how, { stdio: "ignore", env });
    },
  },
];

describe.each(proxies)("$name", ({ start, name }) => {
  let url: string;
  let child: ChildProcess;
  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    child = start(port, new URL((await node).url).host);
    const isReady = async () => expect((await fetch(`${url}/ready`)).ok).toBe(true);
    await vi.waitFor(isReady, { timeout: 30_000 });
  });
  afterAll(async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  });

  test("events of a stream come while its execution still runs", async () => {
    const door = `proxy-${name}`;
    const response = await fetch(`${url}/workflows/slow/stream`, postOf({ input: { door } }, {}));
    const stream = new EventReader(response, "plain");
    // The step is inside: nothing more is sent until the door opens, and this has arrived.
    expect((await stream.until("step-start")).from).toBe("pass");
    await gates.arrival(door);
    gates.open(door);
    expect((await stream.rest()).at(-1)?.type).toBe("workflow-result");
  });

  test("sockets are passed on", async () => {
    const client = await SocketClient.connect({ url }, "/ws");
    await client.next();
    client.socket.send("7");
    expect(await client.next()).toEqual({ type: "ECHO", success: true, data: 7 });
    client.socket.close();
    await once(client.socket, "close");
  });

  test("a body of 3 MiB arrives", async () => {
    const text = "a".repeat(3 * 1024 * 1024);
    const { status, text: sent } = await call(
      `${url}/workflows/length/execute`,
      postOf({ input: { text } }, {}),
    );
    expect([status, JSON.parse(sent).data.result]).toEqual([200, text.length]);
  });

  test("a large response arrives compressed, and whole", async () => {
    const text = "a".repeat(100_000);
    const { headers, text: sent } = await call(
      `${url}/workflows/echo/execute`,
      postOf({ input: { text } }, { "accept-encoding": "gzip" }),
    );
    expect(headers.get("content-encoding")).toBe("gzip");
    expect(JSON.parse(sent).data.result).toBe(text);
  });
});
