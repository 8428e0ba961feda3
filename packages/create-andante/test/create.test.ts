// What the scaffolder asks, refuses and writes.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { choose, databases, providers, UsageError } from "../src/choose.ts";
import { writeProject } from "../src/write-project.ts";

const parent = mkdtempSync(path.join(tmpdir(), "create-andante-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** Types these lines, each when it is asked for. */
async function choosing(args: readonly string[], lines?: readonly string[]) {
  const input = Object.assign(new PassThrough(), { isTTY: lines !== undefined });
  const waiting = [...(lines ?? [])];
  const asked: string[] = [];
  const output = new PassThrough().on("data", (chunk) => {
    const text = String(chunk);
    if (!text.includes("): ")) return;
    asked.push(text);
    input.write(`${waiting.shift() ?? ""}\n`);
  });
  return { choices: await choose(args, input, output), asked };
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
    [["--yes", "--provider", "acme"], '--provider "acme" is not known; it is one of none, openai'],
    [["--yes", "--database", "mysql"], '--database "mysql" is not known'],
    [["--yes", "--name", "../desk"], '"../desk" cannot be the name of a package'],
    [["--yes", "--name", "My Desk"], '"My Desk" cannot be the name of a package'],
    [["--yes", "--colour", "red"], "Unknown option '--colour'"],
    [["--yes", "one", "two"], 'one name is enough, and "two" is a second'],
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
      ...["package.json", "tsconfig.json", "Dockerfile", "README.md", ".gitignore", ".env.example"],
      ...["src/model.ts", "src/writer.ts", "src/publish.ts", "src/server.ts", "test/publish.test.ts"],
    ]) {
      expect(files).toContain(file);
      expect(readFileSync(path.join(folder, file), "utf8"), file).not.toContain("{{");
    }
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ name, private: true, dependencies: { "@andante/core": "^0.1.0" } });
    const named = Object.keys(manifest.dependencies);
    expect(named.includes(`@ai-sdk/${provider}`)).toBe(provider !== "none");
    expect(named.includes("@andante/postgres")).toBe(database === "postgres");
    expect(files.includes("compose.yaml")).toBe(database === "postgres");
  },
);

test("a folder that is not empty is left alone", () => {
  const folder = writeProject({ name: "taken", provider: "none", database: "sqlite" }, parent);
  writeFileSync(path.join(folder, "README.md"), "mine");
  const again = () => writeProject({ name: "taken", provider: "none", database: "sqlite" }, parent);
  expect(again).toThrow(/is there already and is not empty/);
  expect(readFileSync(path.join(folder, "README.md"), "utf8")).toBe("mine");
});
