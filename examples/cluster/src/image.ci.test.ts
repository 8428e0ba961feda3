// The Dockerfile of a node, step by step in a folder: the copied files are enough to build it, and the build serves.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createJWT } from "@andante/server";
import { expect, onTestFinished, test } from "vitest";
import { imageInFolder } from "../../../test/support/image-in-folder.ts";
import { freePort } from "./free-ports.ts";
import { startDatabase } from "./postgres.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const read = (name: string) => readFileSync(path.join(import.meta.dirname, "../deploy", name), "utf8");

/** In place of an installation: the packages installed here, and those of the copy. */
const linkInstalled = `
  mkdir -p node_modules/@andante
  for each in "${root}"/node_modules/*; do
    case "$each" in */@andante) ;; *) ln -s "$each" node_modules/ ;; esac
  done
  for each in packages/*; do ln -s "../../$each" node_modules/@andante/; done
`;

function environment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS, VITEST, NODE_ENV, npm_execpath, ...rest } = process.env;
  return rest;
}

test("the image serves with its console and /ui, and refuses calls without a token", {
  timeout: 600_000,
}, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-image-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }), 120_000);
  const npm = process.env.npm_execpath ?? "";
  const image = imageInFolder({
    dockerfile: read("Dockerfile"),
    ignore: read("Dockerfile.dockerignore"),
    context: root,
    folder,
    env: environment(),
    rewrite: (command) =>
      command
        .replace(/^npm ci .*$/, () => linkInstalled)
        .replace("$(npm root --global)/npm/bin/npm-cli.js", npm)
        .replace(/^npm install/, `"${process.execPath}" "${npm}" install`),
  });
  const copied = readdirSync(path.join(folder, "build/build"));
  const needed = [
    "docs",
    "examples",
    "node_modules",
    "package-lock.json",
    "package.json",
    "packages",
    "scripts",
  ];
  expect(copied.sort()).toEqual([...needed, "tsconfig.json"]);
  expect(readdirSync(image.directory).sort()).toEqual([
    ...["node_modules", "package-lock.json", "package.json", "src"],
  ]);

  const database = await startDatabase();
  onTestFinished(() => database.remove());
  const secret = "a secret of more than thirty-two bytes";
  const port = String(await freePort());
  const [program, ...args] = image.command;
  expect(program).toBe("node");
  const settings = {
    ...image.env,
    HOST: "127.0.0.1",
    PORT: port,
    ...database.settings(0),
    JWT_SECRET: secret,
  };
  const node = spawn(process.execPath, args, {
    cwd: image.directory,
    env: { ...environment(), ...settings },
    stdio: "inherit",
  });
  const ended = once(node, "exit");
  onTestFinished(async () => {
    node.kill();
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  const statusOf = async (route: string, headers: Record<string, string> = {}) =>
    (await fetch(`${url}${route}`, { headers })).status;
  await expect.poll(() => statusOf("/ready").catch(() => 0), { timeout: 60_000 }).toBe(200);
  expect(await statusOf("/health")).toBe(200);
  expect(await (await fetch(`${url}/console`)).text()).toContain("<script");
  for (const route of ["/workflows", "/ui", "/workflows/order/executions"])
    expect(await statusOf(route)).toBe(401);
  const headers = { authorization: `Bearer ${await createJWT({ sub: "ada" }, secret)}` };
  for (const route of ["/workflows", "/ui", "/ui/swagger-ui.css"])
    expect([route, await statusOf(route, headers)]).toEqual([route, 200]);
  const response = await fetch(`${url}/workflows/order/execute`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ input: { number: 2 } }),
  });
  expect(await response.json()).toMatchObject({ data: { result: { number: 2, total: 11 } } });
});
