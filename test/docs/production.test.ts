// The production setup of the pages and the quickstart refuses callers without a token, on routes and on sockets.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, onTestFinished, test } from "vitest";
import type { ModuleRun } from "./module-runner.ts";
import { modulesOf, root } from "./pages.ts";
import { newProject } from "./project.ts";

const secret = "a secret that is long enough for the tests";
const folder = newProject();
const execArgv = ["--conditions=andante-source"];

const runner = fork(path.join(import.meta.dirname, "module-runner.ts"), [folder], {
  execArgv,
  env: { ...process.env, ANDANTE_LOG_LEVEL: "silent", JWT_SECRET: secret },
  stdio: ["ignore", "ignore", "inherit", "ipc"],
});
const exited = once(runner, "exit");
afterAll(async () => {
  runner.kill("SIGKILL");
  await exited;
});

const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
const key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
/** Calls without a token, and the status of each. */
const calls: readonly {
  readonly path: string;
  readonly args?: readonly string[];
  readonly status: number;
}[] = [
  { path: "/health", status: 200 },
  { path: "/ready", status: 200 },
  { path: "/workflows", status: 401 },
  { path: "/workflows/any/execute", args: ["-X", "POST", "-d", "{}"], status: 401 },
  // In opt-in mode these are open.
  { path: "/workflows/any/executions/one/state", status: 401 },
  { path: "/workflows/any/executions/one/resume", args: ["-X", "POST"], status: 401 },
  { path: "/api/logs", status: 401 },
  ...["/ws", "/ws/logs", "/ws/observability"].map((socket) => ({
    path: socket,
    args: ["--http1.1", "-m", "5", ...[...upgrade, key].flatMap((header) => ["-H", `'${header}'`])],
    status: 401,
  })),
];
const commandFor = (origin: string, { path: place, args = [] }: (typeof calls)[number]) =>
  `curl -s -o /dev/null -w '%{http_code}' ${args.join(" ")} ${origin}${place}`;
const expected = calls.map(({ path: place, status }) => `${place} ${status}`);

test.each(["README.md", "docs/getting-started.md", "docs/authentication.md"])(
  "the server that %s shows for production is closed",
  { timeout: 60_000 },
  async (page) => {
    const [shown, ...others] = modulesOf(page).filter(
      ({ code }) => code.includes("await serve(") && code.includes("jwtAuth("),
    );
    expect(others).toEqual([]);
    expect(shown?.code).toContain("defaultPrivate: true");
    expect(shown?.code).toContain('webSocket: "protect"');
    runner.send({
      ...shown,
      name: `${path.basename(page, ".md")}.ts`,
      // It is called below.
      code: shown?.code.replace("await server.close();", ""),
      commands: calls.map((call) => ({ text: commandFor("localhost:3141", call) })),
    });
    const { commands, error } = await Promise.race([nextRun(), exited.then(ended)]);
    expect(error).toBeUndefined();
    expect(commands.map((status, index) => `${calls[index]?.path} ${status}`)).toEqual(expected);
  },
);

test("the quickstart with JWT_SECRET is closed", { timeout: 60_000 }, async () => {
  const main = path.join(root, "examples/quickstart/src/main.ts");
  const env = {
    ...process.env,
    PORT: "0",
    ANDANTE_DB: path.join(folder, "quickstart.db"),
    JWT_SECRET: secret,
  };
  const quickstart = spawn(process.execPath, [...execArgv, main], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const over = once(quickstart, "exit");
  onTestFinished(async () => {
    quickstart.kill("SIGKILL");
    await over;
  });
  let url = "";
  for await (const line of createInterface({ input: quickstart.stdout })) {
    url = /^Andante is ready at (\S+)$/.exec(line)?.[1] ?? "";
    if (url !== "") break;
  }
  const statuses: string[] = [];
  for (const call of calls) {
    const curl = spawn("sh", ["-c", commandFor(url, call)], { stdio: ["ignore", "pipe", "inherit"] });
    statuses.push(`${call.path} ${Buffer.concat(await curl.stdout.toArray())}`);
  }
  expect(statuses).toEqual(expected);
});

test.each(["examples/cluster/src/node.ts", "packages/create-andante/template/common/src/server.ts"])(
  "%s shows the same",
  (file) => {
    const code = readFileSync(path.join(root, file), "utf8");
    expect(code).toContain("defaultPrivate: true");
    expect(code).toContain('publicRoutes: ["GET /health", "GET /ready", "GET /console*"]');
    expect(code).toContain('webSocket: "protect"');
  },
);

async function nextRun(): Promise<ModuleRun> {
  const [run] = await once(runner, "message");
  return run;
}

function ended([code, signal]: unknown[]): never {
  throw new Error(`The module ended the process (${code ?? signal})`);
}
