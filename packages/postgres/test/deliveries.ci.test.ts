// Deliveries while their process is killed with SIGKILL, on SQLite and PostgreSQL, and by two nodes: each event arrives at least
// once, in the order of its execution, with one id.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { freePort } from "../../../examples/cluster/src/free-ports.ts";
import { startPostgres } from "./postgres-server.ts";

const server = await startPostgres();
const folder = mkdtempSync(path.join(tmpdir(), "andante-deliveries-"));
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true });
});

const executions = 20;
const event = z.object({ type: z.string(), data: z.object({ executionId: z.string() }) });

interface Request {
  readonly id: string;
  readonly executionId: string;
  readonly type: string;
  isAnswered: boolean;
}

/** Answers, except while it holds. */
async function receiver() {
  const requests: Request[] = [];
  let holds = false;
  const port = await freePort();
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { type, data } = event.parse(JSON.parse(Buffer.concat(chunks).toString()));
    const made = { id: String(request.headers["webhook-id"]), type, ...data, isAnswered: !holds };
    requests.push(made);
    if (!holds) response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return {
    requests,
    hook: `http://127.0.0.1:${port}/hook`,
    hold: (isHeld: boolean) => {
      holds = isHeld;
    },
  };
}

function child(settings: object): { readonly process: ChildProcess; line(text: string): Promise<unknown> } {
  const main = path.join(import.meta.dirname, "delivering-child.ts");
  const made = spawn(process.execPath, ["--conditions=andante-source", main, JSON.stringify(settings)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void made.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface({ input: made.stdout }).on("line", (line) => lines.push(line));
  const line = (text: string) => expect.poll(() => lines, { timeout: 60_000 }).toContain(text);
  return { process: made, line };
}

/** Kills a process while its requests are under way, and waits until it is gone. */
async function killWith(made: ChildProcess, requests: readonly Request[]): Promise<void> {
  await expect
    .poll(() => requests.filter(({ isAnswered }) => !isAnswered).length, { timeout: 60_000 })
    .toBeGreaterThan(4);
  const gone = new Promise((resolve) => made.once("exit", resolve));
  made.kill("SIGKILL");
  await gone;
}

async function expectAll(requests: readonly Request[]): Promise<void> {
  const answered = () => new Set(requests.filter(({ isAnswered }) => isAnswered).map(({ id }) => id));
  await expect.poll(() => answered().size, { timeout: 60_000 }).toBe(executions * 2);
  const byExecution = Map.groupBy(requests, ({ executionId }) => executionId);
  expect(byExecution.size).toBe(executions);
  for (const [executionId, all] of byExecution) {
    const types = all.filter(({ isAnswered }) => isAnswered).map(({ type }) => type);
    expect([...new Set(types)], executionId).toEqual(["execution.suspended", "execution.ended"]);
    // None is tried before the one before it has arrived.
    const first = all.findIndex(({ type }) => type === "execution.ended");
    expect(
      all.slice(0, first).some(({ isAnswered }) => isAnswered),
      executionId,
    ).toBe(true);
    expect(new Set(all.map(({ id, type }) => `${type} ${id}`)).size, executionId).toBe(2);
  }
}

test.each([
  ["SQLite", () => ({ path: path.join(folder, "test.db") })],
  ["PostgreSQL", () => ({ url: server.url, schema: "killed", lease: 3000 })],
])(
  "on %s a process is killed with deliveries under way: the next one sends them again",
  {
    timeout: 180_000,
  },
  async (_, storeOf) => {
    const { requests, hook, hold } = await receiver();
    hold(true);
    const store = storeOf();
    const first = child({ hook, store, executions, minutes: 0 });
    await first.line("ended");
    await killWith(first.process, requests);
    const underWay = new Set(requests.map(({ id }) => id));
    hold(false);
    const next = child({ hook, store, executions: 0, minutes: 1 });
    await next.line("ended");
    await expectAll(requests);
    for (const id of underWay)
      expect(requests.filter((request) => request.id === id).length).toBeGreaterThan(1);
  },
);

test("two nodes on PostgreSQL deliver, one is killed: the other sends the rest", {
  timeout: 180_000,
}, async () => {
  const { requests, hook, hold } = await receiver();
  const store = { url: server.url, schema: "nodes", lease: 3000 };
  const other = child({ hook, store, executions: 0, minutes: 0 });
  await other.line("ended");
  const first = child({ hook, store, executions, minutes: 0 });
  await first.line("ready");
  await expect.poll(() => requests.length, { timeout: 60_000 }).toBeGreaterThan(executions / 2);
  hold(true);
  await first.line("ended");
  await killWith(first.process, requests);
  hold(false);
  // The attempts of the dead node are due again after a minute.
  other.process.stdin?.write("a minute later\n");
  await expectAll(requests);
});
