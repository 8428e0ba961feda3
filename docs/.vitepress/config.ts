// The documentation site: built by `npm run docs` into static files that load nothing from elsewhere.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { defineConfig } from "vitepress";
import { writeForModels } from "../../scripts/docs/llms.ts";
import { entries, pageName } from "../../scripts/docs/reference.ts";
import { copyLinkedFiles, outsideLinks } from "./outside-links.ts";
import { groups } from "./pages.ts";

const docs = path.resolve(import.meta.dirname, "..");

/** The title of a page is its first heading. */
function titleOf(page: string): string {
  const text = readFileSync(path.join(docs, `${page}.md`), "utf8");
  return (/^# (.*)$/m.exec(text)?.[1] ?? page).replaceAll("`", "");
}

const item = (page: string) => ({ text: titleOf(page), link: `/${page}` });
const pagesIn = (folder: string) =>
  globSync(`${folder}/*.md`, { cwd: docs })
    .map((file) => file.replaceAll(path.sep, "/").replace(/\.md$/, ""))
    .filter((page) => !page.endsWith("README"))
    .sort();

/** Anchors as code hosts make them: the pages are read there too. */
function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}

export default defineConfig({
  title: "Andante",
  description: "A TypeScript server for durable workflows and AI agents",
  lang: "en",
  rewrites: { "README.md": "index.md" },
  cleanUrls: false,
  ignoreDeadLinks: false,
  markdown: {
    anchor: { slugify },
    config: outsideLinks,
  },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Guide", link: "/getting-started" },
      { text: "Tour", link: "/tour" },
      { text: "Recipes", link: `/${pagesIn("recipes")[0] ?? "getting-started"}` },
      { text: "Reference", link: "/reference/core" },
    ],
    sidebar: [
      ...groups.map(({ text, pages }) => ({ text, items: pages.map(item) })),
      { text: "Recipes", collapsed: false, items: pagesIn("recipes").map(item) },
      { text: "Moving from", collapsed: true, items: pagesIn(".").filter(isMoving).map(item) },
      {
        text: "Reference",
        collapsed: true,
        items: entries.map((entry) => ({ text: entry.specifier, link: `/reference/${pageName(entry)}` })),
      },
      {
        text: "Inside",
        collapsed: true,
        items: ["ARCHITECTURE", ...pagesIn("decisions")].map(item),
      },
    ],
    outline: { level: [2, 3] },
    docFooter: { prev: "Before", next: "Next" },
  },
  buildEnd({ outDir }) {
    copyLinkedFiles(outDir);
    writeForModels(docs, outDir);
  },
});

function isMoving(page: string): boolean {
  return page.startsWith("moving-from-");
}
