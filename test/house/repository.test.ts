// The files around the code agree with it: versions, commands, paths, workflows.
import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const root = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const manifest = z
  .object({ scripts: z.record(z.string(), z.string()), devDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read("package.json")));

/** The scripts that a text names as `npm run …`, `npm start` or `npm test`. */
function scriptsIn(text: string): string[] {
  const named = text.matchAll(/npm (?:run (?:--silent )?([a-z:]+)|(start|test)\b)/g);
  return [...new Set([...named].map(([, script, short]) => script ?? short ?? ""))];
}

test("development runs on one version of Node", () => {
  expect(read(".nvmrc").trim()).toBe(manifest.devDependencies.node);
});

test("editors indent and wrap as the formatter does", () => {
  const { formatter } = z
    .object({
      formatter: z.object({ indentStyle: z.string(), indentWidth: z.number(), lineWidth: z.number() }),
    })
    .parse(JSON.parse(read("biome.json")));
  const everywhere = read(".editorconfig").split("[*.md]")[0];
  expect(everywhere).toContain(`indent_style = ${formatter.indentStyle}\n`);
  expect(everywhere).toContain(`indent_size = ${formatter.indentWidth}\n`);
  expect(everywhere).toContain(`max_line_length = ${formatter.lineWidth}\n`);
});

const pages = ["AGENTS.md", "CONTRIBUTING.md", "docs/ARCHITECTURE.md", ".github/pull_request_template.md"];
describe.each(pages)("%s", (page) => {
  test("names commands that exist", () => {
    const scripts = scriptsIn(read(page));
    expect(scripts).not.toEqual([]);
    expect(scripts.filter((script) => manifest.scripts[script] === undefined)).toEqual([]);
  });

  test("names files that exist", () => {
    const named = [
      ...read(page).matchAll(/`((?:packages|docs|test|examples|\.ci|\.changeset)\/[^`\s<*{]*)`/g),
    ];
    expect(named.map(([, file = ""]) => file).filter((file) => !existsSync(path.join(root, file)))).toEqual(
      [],
    );
  });
});

test("every command is in CONTRIBUTING", () => {
  const listed = scriptsIn(read("CONTRIBUTING.md"));
  expect(Object.keys(manifest.scripts).filter((script) => !listed.includes(script))).toEqual([]);
});

describe("the workflows of the code host", () => {
  const step = z.looseObject({ run: z.string().optional(), uses: z.string().optional() });
  const job = z.looseObject({ steps: z.array(step) });
  const workflow = z.looseObject({
    permissions: z.record(z.string(), z.string()),
    jobs: z.record(z.string(), job),
  });
  const files = globSync(".github/**/*.yml", { cwd: root });
  const stepsOf = (file: string) =>
    Object.values(workflow.parse(parse(read(file))).jobs).flatMap(({ steps }) => steps);

  test("every file is YAML", () => {
    expect(files).toHaveLength(6);
    for (const file of files) expect(() => parse(read(file)), file).not.toThrow();
  });

  test.each(["ci", "release"])(
    "%s runs commands that exist, on the version of .nvmrc, and may only read",
    (name) => {
      const file = `.github/workflows/${name}.yml`;
      expect(workflow.parse(parse(read(file))).permissions).toEqual({ contents: "read" });
      const commands = stepsOf(file).flatMap(({ run }) => run ?? []);
      expect(commands).not.toEqual([]);
      const scripts = scriptsIn(commands.join("\n"));
      expect(scripts.filter((script) => manifest.scripts[script] === undefined)).toEqual([]);
      const setups = stepsOf(file).filter(({ uses }) => uses?.startsWith("actions/setup-node@"));
      expect(setups).not.toEqual([]);
      for (const setup of setups) expect(setup.with).toMatchObject({ "node-version-file": ".nvmrc" });
    },
  );

  test("a release is published by the command that refuses one that is not ready", () => {
    const commands = stepsOf(".github/workflows/release.yml").flatMap(({ run }) => run ?? []);
    expect(commands).toEqual(["npm ci", "npm run release -- publish"]);
  });

  test("name no registry", () => {
    for (const file of [...files, ".npmrc"])
      expect(read(file), file).not.toMatch(/registry\s*[:=]|registry-url/);
  });
});
