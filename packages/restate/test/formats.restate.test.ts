// Releases with two formats of the shard's handlers side by side: the first one knows one format, the second one also serves
// the next, and the third one calls it. Nodes are replaced one by one under load, forwards and back again.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { z } from "zod";
import { startBalancer } from "../../../examples/cluster/src/restate.ts";
import { startRestate } from "./restate-server.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const reportSchema = z.object({ ended: z.array(z.string()), lines: z.array(z.string()) });

const server = await startRestate();
const folder = mkdtempSync(path.join(tmpdir(), "andante-formats-"));
symlinkSync(path.join(root, "node_modules"), path.join(folder, "node_modules"));
const nodes: ChildProcess[] = [];
afterAll(async () => {
  for (const node of nodes) node.kill("SIGKILL");
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** The handler of the next format: it begins with a command that the first one does not have. */
const nextFormat = `
    write2: async (context: ObjectContext, { items, at }: Group<keyof Writes>): Promise<ItemResult[]> => {
      context.set("format", 2);
      const cells = new Cells(context);
      await cells.load(firstKeys(items));
      const results = await perform(cells, items, writes, at);
      await cells.write(context);
      return results;
    },
    read: handlers.object.shared(`;

/** A copy of the package with changed sources; returns where it is imported from. */
function makeRelease(name: string, changes: Readonly<Record<string, readonly [string, string]>>): string {
  const copy = path.join(folder, name);
  cpSync(path.join(root, "packages/restate/src"), path.join(copy, "src"), { recursive: true });
  writeFileSync(path.join(copy, "package.json"), JSON.stringify({ type: "module" }));
  for (const [file, [before, after]] of Object.entries(changes)) {
    const source = path.join(copy, "src", file);
    const text = readFileSync(source, "utf8");
    expect(text).toContain(before);
    writeFileSync(
      source,
      text.replace(before, () => after),
    );
  }
  return pathToFileURL(path.join(copy, "src/index.ts")).href;
}

interface ReleaseNode {
  /** Resolves when it has completed as many executions more. */
  completes(count: number): Promise<void>;
  stop(): Promise<z.infer<typeof reportSchema>>;
}

async function startNode(release: string, port: number, url: string): Promise<ReleaseNode> {
  const settings = JSON.stringify({ ...server.options("formats"), endpoint: { port, url } });
  const file = path.join(import.meta.dirname, "release-process.ts");
  const node = fork(file, [release, settings], { execArgv: ["--conditions=andante-source"] });
  nodes.push(node);
  let done = 0;
  let report: z.infer<typeof reportSchema> | undefined;
  node.on("message", (message) => {
    if (typeof message === "number") done = message;
    report = reportSchema.safeParse(message).data ?? report;
  });
  await once(node, "message");
  return {
    completes: async (count) => {
      const wanted = done + count;
      await expect.poll(() => done, { timeout: 60_000 }).toBeGreaterThanOrEqual(wanted);
    },
    stop: async () => {
      const exit = once(node, "exit");
      node.send("stop");
      await exit;
      if (report === undefined) throw new Error("the node has not reported");
      return report;
    },
  };
}

test("three releases with two formats are rolled out and back under load: no call fails, no execution is lost", async () => {
  const first = pathToFileURL(path.join(root, "packages/restate/src/index.ts")).href;
  const serving = {
    "engine/objects.ts": ["    read: handlers.object.shared(", nextFormat.slice(1)],
  } as const;
  const second = makeRelease("second", serving);
  const calling = { "client/shards.ts": ['lanes("write", 1)', 'lanes("write2", 1)'] } as const;
  const third = makeRelease("third", { ...serving, ...calling });
  const balancer = await startBalancer(server.ports);
  const reports: z.infer<typeof reportSchema>[] = [];
  const [one, two, three] = server.ports;
  let [left, right] = [await startNode(first, one, balancer.url), await startNode(first, two, balancer.url)];
  let free: number = three;
  let used: [number, number] = [one, two];
  for (const release of [second, third, second, first]) {
    // A new node is there before an old one leaves, and both nodes work beside each other.
    const newLeft = await startNode(release, free, balancer.url);
    reports.push(await left.stop());
    [left, free, used] = [newLeft, used[0], [free, used[1]]];
    await Promise.all([left.completes(5), right.completes(5)]);
    const newRight = await startNode(release, free, balancer.url);
    reports.push(await right.stop());
    [right, free, used] = [newRight, used[1], [used[0], free]];
    await Promise.all([left.completes(5), right.completes(5)]);
  }
  const failing = "select target, last_failure from sys_invocation where status = 'backing-off'";
  expect(await server.rowsOf(failing)).toEqual([]);
  reports.push(await left.stop(), await right.stop());
  balancer.close();
  const ended = reports.flatMap((report) => report.ended);
  expect(ended.length).toBeGreaterThan(80);
  expect(ended.filter((line) => !line.endsWith(" completed"))).toEqual([]);
  const lines = reports.flatMap((report) => report.lines);
  expect(lines.filter((line) => line.includes("blocked"))).toEqual([]);
}, 240_000);
