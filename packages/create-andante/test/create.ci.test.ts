// The steps of a new user: create a project with the packed scaffolder, install the packed packages, check its types,
// run its test, start and call it with its npm scripts, on every supported version of Node, on SQLite and PostgreSQL.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { createJWT } from "@andante/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { freePort } from "../../../examples/cluster/src/free-ports.ts";
import { imageInFolder } from "../../../test/support/image-in-folder.ts";
import { type PostgresServer, startPostgres } from "../../postgres/test/postgres-server.ts";
import { providers } from "../src/choose.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const work = mkdtempSync(path.join(tmpdir(), "andante-created-"));
const inWork = (...parts: string[]) => path.join(work, ...parts);
const platform = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
/** The oldest version of Node that runs TypeScript directly, this project's version, and the newest. */
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

/** The environment without the variables of the test runner. */
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

let database: PostgresServer;

beforeAll(async () => {
  database = await startPostgres();
  const packed = run(root, process.execPath, "scripts/pack.ts", work).trim().split("\n").at(-1) ?? "";
  const tarballs = z.record(z.string(), z.string()).parse(JSON.parse(packed));
  for (const folder of ["scaffolder", "nodes"]) {
    mkdirSync(inWork(folder));
    writeFileSync(inWork(folder, "package.json"), '{ "private": true }');
  }
  install(inWork("scaffolder"), tarballs["create-andante"] ?? "");
  install(inWork("nodes"), `node-22@npm:node-${platform}@22.18.0`, `node-26@npm:node-${platform}@26.9.0`);
  // One installation for all projects: the dependencies of all, our packages from their tarballs.
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

afterAll(async () => {
  for (const child of running) killGroup(child, "SIGKILL");
  rmSync(work, { recursive: true, force: true });
  await database.remove();
}, 120_000);

test.each(["desk", ...providers.map((provider) => `with-${provider}`)])(
  "the types of %s are right",
  { timeout: 300_000 },
  (name) => {
    run(inWork(name), process.execPath, npm, "run", "check");
  },
);

/** Signals npm and its child processes: npm does not forward every signal. */
function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, signal);
}

/** Makes `node` in the project's scripts this version. */
const withNode = (node: string) => ({ PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` });

/** Runs a script of the project as npm does, and waits for the line with the console's address. */
function start(
  node: string,
  settings: Record<string, string>,
  script: readonly string[],
  cwd = inWork("desk"),
) {
  const env = environment({ PORT: "0", ...withNode(node), ...settings });
  const [program = "", ...args] = script;
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  running.add(child);
  const ended = once(child, "exit").finally(() => running.delete(child));
  const lines = createInterface({ input: child.stdout });
  const printed: string[] = [];
  const iterator = lines[Symbol.asyncIterator]();
  const nextAddress = async (): Promise<string> => {
    for (;;) {
      const { value, done } = await iterator.next();
      if (done === true) throw new Error(`the server ended: ${printed.join("\n")}`);
      printed.push(value);
      const address = /^Console: (http:\S+)\/console\s*$/.exec(value)?.[1];
      if (address !== undefined) return address;
    }
  };
  const stop = async () => {
    killGroup(child, "SIGTERM");
    await ended;
  };
  return { nextAddress, stop, printed };
}

async function post(address: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const { data } = z
    .object({ data: z.looseObject({ executionId: z.string() }) })
    .parse(await response.json());
  return data;
}

/** Starts the workflow, and approves its draft. */
async function publishAt(url: string, headers: Record<string, string> = {}): Promise<void> {
  const publish = `${url}/workflows/publish`;
  const suspended = await post(`${publish}/execute`, { input: { topic: "rivers" } }, headers);
  expect(suspended).toMatchObject({ status: "suspended" });
  const approval = { resumeData: { approved: true } };
  const resumed = await post(`${publish}/executions/${suspended.executionId}/resume`, approval, headers);
  expect(resumed).toMatchObject({ status: "completed", result: { published: true } });
}

describe.each(Object.entries(nodes))("on Node %s", (major, node) => {
  const npmScript = (...script: string[]) => [node, npm, ...script];

  test("that is the version", () => {
    expect(run(work, node, "--version")).toMatch(new RegExp(`^v${major}\\.`));
  });

  test("npm test passes", { timeout: 120_000 }, () => {
    const how = { cwd: inWork("desk"), encoding: "utf8", env: environment(withNode(node)) } as const;
    const output = execFileSync(node, [npm, "test"], how);
    expect(output).toMatch(/^\W pass 1$/m);
    expect(output).toMatch(/^\W fail 0$/m);
  });

  test("npm start serves with no key, and a person's approval publishes", { timeout: 120_000 }, async () => {
    const server = start(node, { ANDANTE_DB: inWork(`served-${major}.db`) }, npmScript("start"));
    const url = await server.nextAddress();
    expect((await fetch(`${url}/console`)).status).toBe(200);
    await publishAt(url);
    await server.stop();
  });

  test("npm start on PostgreSQL, set by .env", { timeout: 120_000 }, async () => {
    // The file that the printed next steps copy, with the address of this database.
    const example = readFileSync(inWork("desk/.env.example"), "utf8");
    const settings = example.replace(/^ANDANTE_DATABASE_URL=.*$/m, `ANDANTE_DATABASE_URL=${database.url}`);
    expect(settings).toContain(database.url);
    writeFileSync(inWork("desk/.env"), settings);
    const server = start(node, { ANDANTE_DB: inWork("none.db") }, npmScript("start"));
    await publishAt(await server.nextAddress());
    expect(server.printed.join("\n")).toContain("using PostgreSQL");
    await server.stop();
    rmSync(inWork("desk/.env"));
  });
});

test("with JWT_SECRET every call needs a token, and the probes and the console's files do not", async () => {
  const secret = "a secret of more than thirty-two bytes";
  const settings = { ANDANTE_DB: inWork("secret.db"), JWT_SECRET: secret };
  const server = start(process.execPath, settings, [process.execPath, npm, "start"]);
  const url = await server.nextAddress();
  const statusOf = async (route: string) => (await fetch(`${url}${route}`)).status;
  for (const route of ["/health", "/ready", "/console"])
    expect([route, await statusOf(route)]).toEqual([route, 200]);
  for (const route of ["/workflows", "/agents/writer", "/api/logs", "/doc"])
    expect([route, await statusOf(route)]).toEqual([route, 401]);
  const token = await createJWT({ sub: "ada" }, secret);
  await publishAt(url, { authorization: `Bearer ${token}` });
  await server.stop();
}, 120_000);

test("npm run dev opens the console at a terminal, and serves again after a change", {
  timeout: 120_000,
}, async () => {
  // A program in place of the browser, which prints the address.
  const [programs, opened] = [inWork("programs"), inWork("opened")];
  mkdirSync(programs);
  for (const name of ["xdg-open", "open"])
    writeFileSync(path.join(programs, name), `#!/bin/sh\necho "$1" >> ${opened}\n`, { mode: 0o755 });
  const command = `"${process.execPath}" "${npm}" run dev`;
  const isMac = process.platform === "darwin";
  // In a terminal: without one it opens no browser.
  const inTerminal = isMac
    ? ["script", "-q", "/dev/null", "sh", "-c", command]
    : ["script", "-qec", command, "/dev/null"];
  const settings = { ANDANTE_DB: inWork("dev.db"), PORT: String(await freePort()) };
  const searched = `${programs}${path.delimiter}${withNode(process.execPath).PATH}`;
  const server = start(process.execPath, { ...settings, PATH: searched }, inTerminal);
  const before = await server.nextAddress();
  expect((await fetch(`${before}/agents`)).status).toBe(200);
  const openedPage = () => (existsSync(opened) ? readFileSync(opened, "utf8") : "");
  await expect.poll(openedPage).toBe(`http://127.0.0.1:${settings.PORT}/console\n`);
  const file = inWork("desk/src/writer.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("Writes short posts", "Writes long posts"));
  const after = await server.nextAddress();
  expect(await (await fetch(`${after}/agents/writer`)).json()).toMatchObject({
    data: { purpose: "Writes long posts" },
  });
  // The page is opened once, not at every change.
  expect(openedPage().split("\n")).toHaveLength(2);
  await server.stop();
});

test.each([
  ["its own Dockerfile", "desk/Dockerfile", "desk/.dockerignore"],
  [
    "deploy/Dockerfile",
    path.join(root, "deploy/Dockerfile"),
    path.join(root, "deploy/Dockerfile.dockerignore"),
  ],
])("the steps of %s make a folder that serves", { timeout: 240_000 }, async (name, dockerfile, ignore) => {
  const folder = inWork(name === "deploy/Dockerfile" ? "image-deploy" : "image-own");
  writeFileSync(inWork("desk/.env"), "JWT_SECRET=not-for-the-image");
  const image = imageInFolder({
    dockerfile: readFileSync(path.resolve(work, dockerfile), "utf8"),
    ignore: readFileSync(path.resolve(work, ignore), "utf8"),
    context: inWork("desk"),
    folder,
    env: environment(withNode(process.execPath)),
    // There is no user `node` here.
    rewrite: (command) =>
      command
        .replace(/^npm /, `"${process.execPath}" "${npm}" `)
        .replace("--owner=node --group=node ", "")
        .replace("chown node:node", "ls"),
  });
  rmSync(inWork("desk/.env"));
  const made = readdirSync(image.directory).sort();
  expect(made).toEqual(["node_modules", "package-lock.json", "package.json", "src"]);
  const installed = readdirSync(path.join(image.directory, "node_modules"));
  expect(installed).not.toContain("typescript");
  expect([image.command[0], image.command.at(-1)]).toEqual(["node", "src/server.ts"]);
  const settings = { ...image.env, HOST: "127.0.0.1", PORT: "0" };
  const script = [process.execPath, ...image.command.slice(1)];
  const server = start(process.execPath, settings, script, image.directory);
  const url = await server.nextAddress();
  for (const route of ["/health", "/ready", "/console", "/ui", "/ui/swagger-ui.css"])
    expect([route, (await fetch(`${url}${route}`)).status]).toEqual([route, 200]);
  await publishAt(url);
  await server.stop();
  expect(readdirSync(path.join(image.root, "data"))).toContain("andante.db");
});
