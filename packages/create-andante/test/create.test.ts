// The questions, refusals and files of the scaffolder.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { parseEnv } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { pagesOf, readManifest } from "../../../scripts/stage.ts";
import { choose, databases, providers, UsageError } from "../src/choose.ts";
import { checkFolder, writeProject } from "../src/write-project.ts";

const parent = mkdtempSync(path.join(tmpdir(), "create-andante-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** Enters these lines, each after its question. */
async function choosing(args: readonly string[], lines?: readonly string[]) {
  const input = Object.assign(new PassThrough(), { isTTY: lines !== undefined });
  const waiting = [...(lines ?? [])];
  const asked: string[] = [];
  const told: string[] = [];
  const output = new PassThrough().on("data", (chunk) => {
    const text = String(chunk);
    if (!text.includes("): ")) return void told.push(text);
    asked.push(text);
    input.write(`${waiting.shift() ?? ""}\n`);
  });
  const surroundings = { input, output, checkFolder: (name: string) => checkFolder(name, parent) };
  return { choices: await choose(args, surroundings), asked, told: told.join("") };
}

describe("the choices", () => {
  test("are asked for one by one, and an empty line takes the default", async () => {
    const { choices, asked } = await choosing([], ["desk", "", "Postgres"]);
    expect(choices).toEqual({ name: "desk", provider: "none", database: "postgres" });
    expect(asked).toHaveLength(3);
  });

  test("that are given are not asked for", async () => {
    const { choices, asked } = await choosing(["desk", "--provider", "google"], ["sqlite"]);
    expect(choices).toEqual({ name: "desk", provider: "google", database: "sqlite" });
    expect(asked).toHaveLength(1);
  });

  test("are checked as they are typed, and asked for again", async () => {
    const lines = ["My Desk", "taken", "desk", "acme", "openai", "mysql", "sqlite"];
    writeProject({ name: "taken", provider: "none", database: "sqlite" }, parent);
    const { choices, asked, told } = await choosing([], lines);
    expect(choices).toEqual({ name: "desk", provider: "openai", database: "sqlite" });
    expect(asked.map((question) => question.slice(0, 6))).toEqual([
      ...["Name o", "Name o", "Name o", "Models", "Models", "Databa", "Databa"],
    ]);
    expect(told).toContain('"My Desk" cannot be the name of a package');
    expect(told).toContain("taken already exists and is not empty");
    expect(told).toContain('"acme" is not a provider; choose one of none, openai');
    expect(told).toContain('"mysql" is not a database; choose one of sqlite, postgres, restate');
  });

  test("that are given are checked before anything is asked", async () => {
    await expect(choosing(["desk", "--database", "mysql"], ["openai"])).rejects.toThrow(UsageError);
  });

  test("need no terminal with --yes or with all flags", async () => {
    expect((await choosing(["--yes"])).choices).toEqual({
      name: "my-andante",
      provider: "none",
      database: "sqlite",
    });
    const all = ["--name", "desk", "--provider", "openai", "--database", "postgres"];
    expect((await choosing(all)).choices).toEqual({ name: "desk", provider: "openai", database: "postgres" });
  });

  test("--help shows the flags", async () => {
    expect((await choosing(["--help"])).choices).toContain("--provider");
  });

  test.each([
    [["desk"], "there is no terminal to ask at"],
    [["--yes", "--provider", "acme"], '"acme" is not a provider; choose one of none, openai'],
    [["--yes", "--database", "mysql"], '"mysql" is not a database'],
    [["--yes", "--name", "../desk"], '"../desk" cannot be the name of a package'],
    [["--yes", "--name", "My Desk"], '"My Desk" cannot be the name of a package'],
    [["--yes", "--colour", "red"], "Unknown option '--colour'"],
    [["--yes", "one", "two"], 'one name is enough, and "two" is a second'],
    [["--yes", "--name", "one", "two"], 'one name is enough, and "two" is a second'],
    [["--yes", "node_modules"], '"node_modules" is a name that npm or Windows keeps for itself'],
    [["--yes", "nul.app"], '"nul.app" is a name that npm or Windows keeps for itself'],
    [["--yes", "desk."], '"desk." cannot be the name of a package'],
  ])("%o are refused", async (args, message) => {
    const refused = choosing(args);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(message);
  });
});

const combinations = providers.flatMap((provider) => databases.map((database) => ({ provider, database })));

test.each(combinations)(
  "a project with $provider and $database is written whole",
  ({ provider, database }) => {
    const name = `${provider}-${database}`;
    const folder = writeProject({ name, provider, database }, parent);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    for (const file of [
      ...[
        "package.json",
        "tsconfig.json",
        "Dockerfile",
        "README.md",
        ".gitignore",
        ".env.example",
        "AGENTS.md",
      ],
      ...["src/model.ts", "src/writer.ts", "src/publish.ts", "src/server.ts", "test/publish.test.ts"],
    ]) {
      expect(files).toContain(file);
      expect(readFileSync(path.join(folder, file), "utf8"), file).not.toContain("{{");
    }
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    const range = `^${readManifest("packages/core").version}`;
    expect(manifest).toMatchObject({ name, private: true, dependencies: { "@andante/core": range } });
    const named = Object.keys(manifest.dependencies);
    expect(named.includes(`@ai-sdk/${provider}`)).toBe(provider !== "none");
    for (const each of ["postgres", "restate"])
      expect(named.includes(`@andante/${each}`)).toBe(database === each);
    expect(files.includes("compose.yaml")).toBe(database !== "sqlite");
    const readme = readFileSync(path.join(folder, "README.md"), "utf8");
    expect(readme.includes("docker compose up --detach --wait")).toBe(database !== "sqlite");
    // The files that it names exist.
    const mentioned = [...readme.matchAll(/^\| `(\S+)` \|/gm)].map(([, file = ""]) => file);
    expect(mentioned.filter((file) => !files.includes(file))).toEqual([]);
  },
);

test("AGENTS.md names commands, files and installed pages that exist", () => {
  const folder = writeProject({ name: "assisted", provider: "none", database: "sqlite" }, parent);
  const text = readFileSync(path.join(folder, "AGENTS.md"), "utf8");
  const { scripts } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  const commands = [...text.matchAll(/`npm (?:run )?([a-z]+)`/g)].map(([, script = ""]) => script);
  expect(commands.sort()).toEqual(Object.keys(scripts).sort());
  const files = [...text.matchAll(/`((?:src|test)\/[^`<]+)`/g)].map(([, file = ""]) => file);
  expect(files).not.toEqual([]);
  expect(files.filter((file) => !existsSync(path.join(folder, file)))).toEqual([]);
  const shipped = Object.entries(pagesOf).flatMap(([from, pages]) =>
    pages.map((page) => `${readManifest(from).name}/docs/${page}.md`),
  );
  const pages = [...text.matchAll(/`node_modules\/([^`]+)`/g)].map(([, page = ""]) => page);
  expect(pages).not.toEqual([]);
  expect(pages.filter((page) => !shipped.includes(page))).toEqual([]);
});

test("compose.yaml starts the database that .env.example names", () => {
  const folder = writeProject({ name: "composed", provider: "none", database: "postgres" }, parent);
  const compose = z.object({
    services: z.object({
      postgres: z.object({
        environment: z.object({ POSTGRES_PASSWORD: z.string() }),
        ports: z.tuple([z.string()]),
        healthcheck: z.object({ test: z.array(z.string()) }),
      }),
      server: z.object({
        profiles: z.array(z.string()),
        build: z.literal("."),
        environment: z.object({ ANDANTE_DATABASE_URL: z.string(), PORT: z.string() }),
        ports: z.tuple([z.string()]),
        depends_on: z.object({ postgres: z.object({ condition: z.literal("service_healthy") }) }),
      }),
    }),
  });
  const { postgres, server } = compose.parse(
    parse(readFileSync(path.join(folder, "compose.yaml"), "utf8")),
  ).services;
  const [, port] = /^127\.0\.0\.1:(\d+):5432$/.exec(postgres.ports[0]) ?? [];
  const login = `postgres://postgres:${postgres.environment.POSTGRES_PASSWORD}`;
  const settings = parseEnv(readFileSync(path.join(folder, ".env.example"), "utf8"));
  expect(settings).toEqual({ ANDANTE_DATABASE_URL: `${login}@127.0.0.1:${port}/postgres` });
  expect(server.environment.ANDANTE_DATABASE_URL).toBe(`${login}@postgres:5432/postgres`);
  expect(server.ports[0]).toBe(`127.0.0.1:3141:${server.environment.PORT}`);
  const dockerfile = readFileSync(path.join(folder, "Dockerfile"), "utf8");
  expect(dockerfile).toContain(`EXPOSE ${server.environment.PORT}`);
});

test("compose.yaml starts the Restate that .env.example names", () => {
  const folder = writeProject({ name: "composed-restate", provider: "none", database: "restate" }, parent);
  const compose = z.object({
    services: z.object({
      restate: z.object({ ports: z.array(z.string()), extra_hosts: z.array(z.string()) }),
      server: z.object({
        environment: z.object({ ANDANTE_RESTATE_URL: z.string(), ANDANTE_RESTATE_ENDPOINT_URL: z.string() }),
        depends_on: z.tuple([z.literal("restate")]),
      }),
    }),
  });
  const { restate, server } = compose.parse(
    parse(readFileSync(path.join(folder, "compose.yaml"), "utf8")),
  ).services;
  // The administration is beside the ingress, on its usual port.
  expect(restate.ports).toEqual(["127.0.0.1:8080:8080", "127.0.0.1:9070:9070"]);
  expect(parseEnv(readFileSync(path.join(folder, ".env.example"), "utf8"))).toEqual({
    ANDANTE_RESTATE_URL: "http://127.0.0.1:8080",
    ANDANTE_RESTATE_ENDPOINT_URL: "http://host.docker.internal:9080",
  });
  expect(restate.extra_hosts).toEqual(["host.docker.internal:host-gateway"]);
  expect(server.environment).toEqual({
    ANDANTE_RESTATE_URL: "http://restate:8080",
    ANDANTE_RESTATE_ENDPOINT_URL: "http://server:9080",
  });
});

const composed = (database: string) => [
  `cd desk-${database}`,
  "npm install",
  "docker compose up --detach --wait",
  "cp .env.example .env",
  "npm run dev",
];
test.each([
  ["sqlite", ["cd desk-sqlite", "npm install", "npm run dev"]],
  ["postgres", composed("postgres")],
  ["restate", composed("restate")],
])("the last lines say how to start a project on %s, its database included", (database, steps) => {
  const program = path.resolve(import.meta.dirname, "../src/index.ts");
  const args = [program, `desk-${database}`, "--provider", "none", "--database", database];
  const output = execFileSync(process.execPath, args, { cwd: parent, encoding: "utf8" });
  const lines = output.split("\n").filter((line) => line.startsWith("  "));
  expect(lines.map((line) => line.replace(/#.*/, "").trim())).toEqual(steps);
});

test("an error of the system is one line, and so is a link that leads nowhere", () => {
  symlinkSync("round", path.join(parent, "round"));
  symlinkSync("nowhere", path.join(parent, "astray"));
  const program = path.resolve(import.meta.dirname, "../src/index.ts");
  const run = (name: string) =>
    spawnSync(process.execPath, [program, name, "--yes"], { cwd: parent, encoding: "utf8" });
  expect(run("round")).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^create-andante: ELOOP.*\n$/),
  });
  expect(() => checkFolder("astray", parent)).toThrow(/astray is a link that leads nowhere/);
});

test("a folder that is not empty is left alone", () => {
  const folder = writeProject({ name: "taken-too", provider: "none", database: "sqlite" }, parent);
  writeFileSync(path.join(folder, "README.md"), "mine");
  const again = () => writeProject({ name: "taken-too", provider: "none", database: "sqlite" }, parent);
  expect(again).toThrow(/taken-too already exists and is not empty/);
  expect(readFileSync(path.join(folder, "README.md"), "utf8")).toBe("mine");
});
