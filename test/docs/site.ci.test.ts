// The documentation site: it builds, its links lead somewhere, nothing of it comes from elsewhere, and it has every page.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { groups } from "../../docs/.vitepress/pages.ts";
import { entries } from "../../scripts/docs/reference.ts";
import { root } from "./pages.ts";

const site = mkdtempSync(path.join(tmpdir(), "andante-site-"));
afterAll(() => rmSync(site, { recursive: true, force: true }));
const read = (file: string) => readFileSync(path.join(site, file), "utf8");
const pages = () => globSync("**/*.html", { cwd: site });
const topics = globSync("docs/*.md", { cwd: root }).map((file) => path.basename(file, ".md"));

beforeAll(() => {
  const script = path.join(root, "scripts/docs/main.ts");
  const { status, stderr, stdout } = spawnSync(process.execPath, [script, "build", site], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, NODE_ENV: "production" },
  });
  // A dead link to a page ends the build.
  expect(status, `${stdout}${stderr}`).toBe(0);
}, 600_000);

test("every page of the guide, the recipes and the decisions is there", () => {
  const sources = globSync("docs/{*,recipes/*,decisions/*}.md", { cwd: root });
  const expected = sources.map((file) => file.slice("docs/".length).replace(/\.md$/, ".html"));
  const missing = expected.filter((file) => !existsSync(path.join(site, file.replace("README", "index"))));
  expect(missing).toEqual([]);
});

test("the side bar has every page of the guide once", () => {
  const listed = groups.flatMap((group) => group.pages);
  const elsewhere = (page: string) =>
    ["README", "ARCHITECTURE"].includes(page) || page.startsWith("moving-from-");
  expect(listed.toSorted()).toEqual(topics.filter((page) => !elsewhere(page)).sort());
});

test("every link inside the site leads to a file, and to a heading in it", () => {
  const ids = new Map<string, Set<string>>();
  const idsOf = (file: string) => {
    const known =
      ids.get(file) ?? new Set([...read(file).matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id));
    ids.set(file, known);
    return known;
  };
  const broken = pages().flatMap((page) => {
    const targets = [...read(page).matchAll(/<a [^>]*?href="([^"]*)"/g)].map(([, target = ""]) => target);
    return targets
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [address = "", anchor] = target.replaceAll("&amp;", "&").split("#");
        const given =
          address === ""
            ? page
            : path.posix.join(address.startsWith("/") ? "" : path.posix.dirname(page), address);
        const place = given.replace(/^\//, "");
        const file = place === "" || place.endsWith("/") ? `${place}index.html` : place;
        const full = path.join(site, file);
        if (!existsSync(full) || !statSync(full).isFile()) return true;
        return anchor !== undefined && anchor !== "" && !idsOf(file).has(decodeURIComponent(anchor));
      })
      .map((target) => `${page}: ${target}`);
  });
  expect([...new Set(broken)]).toEqual([]);
});

test("no script, style, font, picture or frame comes from elsewhere", () => {
  const outside = pages().flatMap((page) => {
    const text = read(page);
    const loaded = /<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc="(?:https?:)?\/\/[^"]*"/g;
    const linked = /<link\b(?![^>]*rel="(?:canonical|alternate)")[^>]*\bhref="(?:https?:)?\/\/[^"]*"/g;
    return [...text.matchAll(loaded), ...text.matchAll(linked)].map(([found]) => `${page}: ${found}`);
  });
  const styles = globSync("**/*.css", { cwd: site }).flatMap((file) =>
    [...read(file).matchAll(/url\(["']?(?:https?:)?\/\/[^)]*\)|@import[^;]*http[^;]*/g)].map(
      ([found]) => `${file}: ${found}`,
    ),
  );
  // Scripts may name addresses in their texts, but load nothing from them.
  const scripts = globSync("**/*.js", { cwd: site }).flatMap((file) =>
    [
      ...read(file).matchAll(
        /(?:import|fetch|importScripts)\(["'`]https?:[^)]*\)|from ?["']https?:[^"']*["']/g,
      ),
    ].map(([found]) => `${file}: ${found}`),
  );
  expect([...outside, ...styles, ...scripts].filter((found) => !found.includes("localhost"))).toEqual([]);
  expect(globSync("**/*.{woff,woff2,ttf}", { cwd: site })).toEqual([]);
});

test("search works without a service: its index is a file of the site", () => {
  const [index] = globSync("assets/chunks/@localSearchIndex*.js", { cwd: site });
  expect(read(index ?? "")).toContain("idempotencykey");
});

test("the reference has a page for every entry of every package that is not internal", () => {
  const manifests = globSync("packages/*/package.json", { cwd: root }).map((file) =>
    JSON.parse(readFileSync(path.join(root, file), "utf8")),
  );
  const published = manifests.flatMap(({ name, exports = {} }) =>
    Object.entries(exports)
      .filter(([, target]) => Object.hasOwn(Object(target), "andante-source"))
      .map(([subpath]) => path.posix.join(name, subpath)),
  );
  const inner = [
    "@andante/core/internal",
    "@andante/core/internal/examples",
    "@andante/core/store-cases",
    "@andante/server/examples",
  ];
  const expected = published.filter((specifier) => !inner.includes(specifier));
  expect(entries.map(({ specifier }) => specifier).sort()).toEqual(expected.sort());
});

test("the reference has the exports of the packages, with their comments", () => {
  const core = read("reference/core.html");
  for (const name of ["createAndante", "createWorkflow", "Agent", "sqliteStore"])
    expect(core).toMatch(new RegExp(`<h2[^>]*>${name} `));
  expect(read("reference/server.html")).toContain("Default: true.");
});

test("llms.txt lists the pages as Markdown, with a sentence each", () => {
  const text = read("llms.txt");
  expect(text).toMatch(/^# Andante\n\n> .+\n/);
  const links = [...text.matchAll(/^- \[.+\]\(\/(\S+\.md)\)/gm)].map(([, file = ""]) => file);
  expect(links).toEqual(
    expect.arrayContaining(topics.filter((name) => name !== "README").map((name) => `${name}.md`)),
  );
  expect(links).toEqual(expect.arrayContaining(["recipes/saga.md", "reference/core.md"]));
  expect(links.filter((file) => !existsSync(path.join(site, file)))).toEqual([]);
});
