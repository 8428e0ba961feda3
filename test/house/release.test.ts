// Changes become a version and a section of the changelog, and nothing is published that is not ready.
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { nextVersion, parseChange, readChanges, withRelease } from "../../scripts/changes.ts";
import { published, root } from "../../scripts/packages.ts";
import { problems, withVersion } from "../../scripts/release.ts";
import {
  addressesOf,
  guide,
  pagesOf,
  readManifest,
  relinked,
  repositoryAddress,
} from "../../scripts/stage.ts";

const names = published.map((folder) => readManifest(folder).name);
const change = (head: string, text = "Text.") => parseChange("a.md", `---\n${head}\n---\n\n${text}\n`, names);
const minor = change('"@andante/server": minor\n"@andante/client": patch', "New.\nSecond line.");
const patch = change('"@andante/core": patch', "A fix.");

describe("a change", () => {
  test("is as large as the largest of its packages", () => {
    expect(minor).toEqual({
      packages: ["@andante/server", "@andante/client"],
      size: "minor",
      text: "New.\nSecond line.",
    });
  });

  test.each([
    ["huge", '"@andante/core": huge', "Text.", `is not '"package": patch'`],
    ["no head", "", "Text.", `is not '"package": patch'`],
    ["another package", '"left-pad": patch', "Text.", "left-pad is not a package that is published"],
    ["no text", '"@andante/core": patch', " ", "there is no text for the users"],
  ])("is refused with %s", (_, head, text, message) => {
    expect(() => change(head, text)).toThrow(message);
  });

  test("each that waits in .changeset can be read", () => {
    expect(() => readChanges(names)).not.toThrow();
  });
});

test("the largest change decides the version", () => {
  expect(nextVersion("0.1.9", [patch, patch])).toBe("0.1.10");
  expect(nextVersion("0.1.9", [patch, minor])).toBe("0.2.0");
  expect(nextVersion("0.2.3", [minor, change('"@andante/core": major')])).toBe("1.0.0");
});

test("a release is above the earlier ones in the changelog", () => {
  const changelog = "# Changelog\n\nIntroduction.\n\n## 0.1.0\n\n- Begun.\n";
  expect(withRelease(changelog, "0.2.0", "2027-01-31", [patch, minor])).toBe(`# Changelog

Introduction.

## 0.2.0 (2027-01-31)

### Changed

- \`@andante/server\`, \`@andante/client\`: New.
  Second line.

### Fixed

- \`@andante/core\`: A fix.

## 0.1.0

- Begun.
`);
});

test("a new version reaches our own packages alone", () => {
  const text = '"version": "0.1.0", "@andante/core": "^0.1.0", "@andante/server": "0.1.0", "other": "0.1.0"';
  expect(withVersion(text, "0.1.0", "0.1.1")).toBe(
    '"version": "0.1.1", "@andante/core": "^0.1.1", "@andante/server": "0.1.1", "other": "0.1.0"',
  );
});

test("every package and the server's own number have the same version", () => {
  const { version, workspaces = [] } = readManifest(".");
  expect(workspaces.filter((folder) => readManifest(folder).version !== version)).toEqual([]);
  expect(readFileSync(path.join(root, "packages/server/src/version.ts"), "utf8")).toContain(`"${version}"`);
});

describe("publishing", () => {
  const ready = {
    repository: "https://example.com/owner/andante",
    version: "0.1.0",
    changes: [],
    changelog: "# Changelog\n\n## 0.1.0 (2027-01-31)\n",
    tag: "v0.1.0",
  };

  test("is allowed when everything is in place", () => {
    expect(problems(ready)).toEqual([]);
  });

  test.each([
    [{ repository: "" }, '"repository" is empty'],
    [{ changes: ["a.md"] }, ".changeset/a.md is not released"],
    [{ changelog: "# Changelog\n\n## 0.1.0-beta\n" }, 'CHANGELOG.md has no section "## 0.1.0"'],
    [{ changelog: `${ready.changelog}\n## Unreleased\n` }, 'CHANGELOG.md has a section "## Unreleased"'],
    [{ tag: "v0.2.0" }, "the tag is v0.2.0, the version v0.1.0"],
    [{ tag: undefined }, "the tag is missing"],
  ])("is refused with %o", (difference, message) => {
    expect(problems({ ...ready, ...difference })).toEqual([expect.stringContaining(message)]);
  });
});

describe("a published package", () => {
  test("names the repository, its page and its issues, once the address is set", () => {
    expect(addressesOf("https://example.com/owner/andante", "packages/core")).toEqual({
      repository: {
        type: "git",
        url: "git+https://example.com/owner/andante.git",
        directory: "packages/core",
      },
      homepage: "https://example.com/owner/andante/tree/main/packages/core#readme",
      bugs: { url: "https://example.com/owner/andante/issues" },
    });
    expect(addressesOf("", "packages/core")).toEqual({});
  });

  test("takes the address from the project's package.json alone", () => {
    expect(() => repositoryAddress()).not.toThrow();
    const own = published.filter((folder) =>
      ["repository", "homepage", "bugs"].some((field) => field in readManifest(folder)),
    );
    expect(own).toEqual([]);
  });

  test.each(published)("%s has keywords", (folder) => {
    expect(readManifest(folder).keywords).toEqual(expect.arrayContaining([expect.any(String)]));
  });

  test("ships its pages: each of the guide is in one package", () => {
    const elsewhere = ["ARCHITECTURE", "tour"];
    const shipped = Object.values(pagesOf).flat();
    expect([...shipped, ...elsewhere].sort()).toEqual(guide().sort());
  });

  test.each([
    ["docs/http.md", "[Workflows](workflows.md#steps)", "[Workflows](../../core/docs/workflows.md#steps)"],
    ["docs/recipes/saga.md", "[Steps](../workflows.md)", "[Steps](../workflows.md)"],
    ["docs/workflows.md", "[Saga](recipes/saga.md)", "[Saga](recipes/saga.md)"],
    [
      "docs/workflows.md",
      "[Map](ARCHITECTURE.md)",
      "[Map](https://example.com/o/a/blob/v0.1.0/docs/ARCHITECTURE.md)",
    ],
    [
      "docs/workflows.md",
      "[here](#steps) [there](https://example.com)",
      "[here](#steps) [there](https://example.com)",
    ],
    [
      "packages/core/README.md",
      "[Docs](../../docs/README.md)",
      "[Docs](https://example.com/o/a/blob/v0.1.0/docs/README.md)",
    ],
  ])("%s: the link %s is %s", (page, link, expected) => {
    const folder = Object.entries(pagesOf).find(([, pages]) =>
      pages.some((each) => page === `docs/${each}.md`),
    );
    const { name } = readManifest(folder?.[0] ?? "packages/core");
    expect(relinked(link, page, `${name}/${page}`, "https://example.com/o/a", "0.1.0")).toBe(expected);
  });

  test("every relative link of a shipped page leads to a shipped page", () => {
    const shipped = Object.entries(pagesOf).flatMap(([folder, pages]) =>
      pages.map((page) => ({
        page: `docs/${page}.md`,
        place: `${readManifest(folder).name}/docs/${page}.md`,
      })),
    );
    const places = new Set(shipped.map(({ place }) => place));
    const broken = shipped.flatMap(({ page, place }) => {
      const text = relinked(readFileSync(path.join(root, page), "utf8"), page, place, "", "0.1.0");
      const targets = [...text.matchAll(/\]\(([^)\s#]+\.md)[^)\s]*\)/g)].map(([, target = ""]) => target);
      return targets
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => !places.has(path.posix.join(path.posix.dirname(place), target)))
        .map((target) => `${place}: ${target}`);
    });
    expect(broken).toEqual([]);
  });

  test("a link to the repository is plain text as long as there is no address", () => {
    expect(
      relinked("[Map](ARCHITECTURE.md)", "docs/agents.md", "@andante/core/docs/agents.md", "", "0.1.0"),
    ).toBe("Map");
  });
});
