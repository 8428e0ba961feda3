// The way of somebody new: create a project with the packed scaffolder, install the packed packages into it, check its types,
// run its test, start it and call it, on every Node that is supported.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { providers } from "../src/choose.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const work = mkdtempSync(path.join(tmpdir(), "andante-created-"));
const inWork = (...parts: string[]) => path.join(work, ...parts);
const platform = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
/** The oldest that runs TypeScript directly, the one of this project, and the newest. */
const nodes = {
  "22": inWork("nodes/node_modules/node-22/bin/node"),
  "24": process.execPath,
  "26": inWork("nodes/node_modules/node-26/bin/node"),
};
const running = new Set<ChildProcess>();

const npm = process.env.npm_execpath ?? "";
const run = (folder: string, program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: folder, encoding: "utf8", env: environment() });
const install = (folder: string, ...what: string[]) =>
  run(folder, process.execPath, npm, "install", "--no-audit", "--no-fund", "--loglevel=error", ...what);

/** Without what a test run has set for the processes below it. */
function environment(further: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { NODE_OPTIONS, VITEST, NODE_ENV, ...rest } = process.env;
  return { ...rest, ...further };
}

const manifest = z.looseObject({ dependencies: z.record(z.string(), z.string()) });
const readManifest = (folder: string) =>
  manifest.parse(JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")));

function create(name: string, provider: string, database: string): string {
  const program = inWork("scaffolder/node_modules/create-andante/dist/index.js");
  run(work, process.execPath, program, "--name", name, "--provider", provider, "--database", database);
  return inWork(name);
}

beforeAll(() => {
  const packed = run(root, process.execPath, "scripts/pack.ts", work).trim().split("\n").at(-1) ?? "";
  const tarballs = z.record(z.string(), z.string()).parse(JSON.parse(packed));
  for (const folder of ["scaffolder", "nodes"]) {
    mkdirSync(inWork(folder));
    writeFileSync(inWork(folder, "package.json"), '{ "private": true }');
  }
  install(inWork("scaffolder"), tarballs["create-andante"] ?? "");
  install(inWork("nodes"), `node-22@npm:node-${platform}@22.18.0`, `node-26@npm:node-${platform}@26.9.0`);
  // One installation for all projects: what any of them needs, our packages from their tarballs.
  const created = [
    ...providers.map((provider) => create(`with-${provider}`, provider, "sqlite")),
    create("desk", "none", "postgres"),
  ];
  const desk = inWork("desk");
  const all = Object.assign({}, ...created.map((folder) => readManifest(folder).dependencies));
  const dependencies = Object.entries<string>(all).map(([name, range]) => {
    const tarball = name.startsWith("@andante/") ? tarballs[name.slice("@andante/".length)] : undefined;
    return [name, tarball === undefined ? range : `file:${tarball}`];
  });
  const own = { ...readManifest(desk), dependencies: Object.fromEntries(dependencies) };
  writeFileSync(path.join(desk, "package.json"), JSON.stringify(own));
  install(desk, tarballs.console ?? "");
  for (const folder of created)
    if (folder !== desk) symlinkSync(path.join(desk, "node_modules"), path.join(folder, "node_modules"));
}, 900_000);

afterAll(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(work, { recursive: true, force: true });
}, 120_000);

test.each(["desk", ...providers.map((provider) => `with-${provider}`)])(
  "the types of %s are right",
  { timeout: 120_000 },
  (name) => {
    run(inWork(name), process.execPath, "node_modules/typescript/bin/tsc");
  },
);

/** Starts a script of the project and waits for the line with the console's address. */
async function start(node: string, database: string, ...args: string[]) {
  const env = environment({ PORT: "0", ANDANTE_DB: inWork(database) });
  const child = spawn(node, args, { cwd: inWork("desk"), env, stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextAddress = async (): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error("the server ended");
      const address = /^Console: (http:\S+)\/console$/.exec(value)?.[1];
      if (address !== undefined) return address;
    }
  };
  const stop = async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  return { nextAddress, stop };
}

async function post(address: string, body: unknown) {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { data } = z
    .object({ data: z.looseObject({ executionId: z.string() }) })
    .parse(await response.json());
  return data;
}

describe.each(Object.entries(nodes))("on Node %s", (major, node) => {
  test("that is the version", () => {
    expect(run(work, node, "--version")).toMatch(new RegExp(`^v${major}\\.`));
  });

  test("its test passes", { timeout: 120_000 }, () => {
    const output = run(inWork("desk"), node, "--test", "--test-reporter=tap", "test/**/*.test.ts");
    expect(output).toContain("# pass 1");
    expect(output).toContain("# fail 0");
  });

  test("it serves with no key, and a person's approval publishes", { timeout: 120_000 }, async () => {
    const server = await start(node, `served-${major}.db`, "src/server.ts");
    const url = await server.nextAddress();
    expect((await fetch(`${url}/console`)).status).toBe(200);
    const publish = `${url}/workflows/publish`;
    const suspended = await post(`${publish}/execute`, { input: { topic: "rivers" } });
    expect(suspended).toMatchObject({ status: "suspended" });
    const resumed = await post(`${publish}/executions/${suspended.executionId}/resume`, {
      resumeData: { approved: true },
    });
    expect(resumed).toMatchObject({ status: "completed", result: { published: true } });
    await server.stop();
  });
});

test("npm run dev serves again after a change", { timeout: 120_000 }, async () => {
  const server = await start(process.execPath, "dev.db", "scripts/dev.ts");
  const before = await server.nextAddress();
  expect((await fetch(`${before}/agents`)).status).toBe(200);
  const file = inWork("desk/src/writer.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("Writes short posts", "Writes long posts"));
  const after = await server.nextAddress();
  expect(await (await fetch(`${after}/agents/writer`)).json()).toMatchObject({
    data: { purpose: "Writes long posts" },
  });
  await server.stop();
});
