// Links that a code host follows and a site does not: to files outside of docs/, of which the site has copies under
// /files/, and to folders.
import { copyFileSync, globSync, mkdirSync, statSync } from "node:fs";
import path from "node:path";
import type { MarkdownRenderer } from "vitepress";

const docs = path.resolve(import.meta.dirname, "..");
const root = path.dirname(docs);
/** What pages of this build have linked to. */
const linked = new Set<string>();

/** Points such links to the copies, and those to a folder to its first page. */
export function outsideLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("outside-links", ({ tokens, env }) => {
    for (const link of tokens.flatMap(({ children }) => children ?? [])) {
      const target = link.type === "link_open" ? link.attrGet("href") : null;
      if (target === null || /^(?:[a-z]+:|#|\/)/.test(target) || typeof env.path !== "string") continue;
      const file = path.resolve(path.dirname(env.path), target.split("#")[0] ?? "");
      const place = siteOf(file);
      if (place !== undefined) link.attrSet("href", place);
    }
  });
}

/** Where the site has a file or folder of the repository; undefined for pages, which VitePress finds. */
function siteOf(file: string): string | undefined {
  const isInside = file.startsWith(`${docs}${path.sep}`);
  if (statSync(file).isDirectory()) {
    const [first] = globSync("*.md", { cwd: file }).sort();
    if (first === undefined) throw new Error(`${file} has no page that a link could lead to`);
    return isInside ? `/${path.relative(docs, path.join(file, first))}` : siteOf(path.join(file, first));
  }
  if (isInside) return undefined;
  const place = path.relative(root, file).replaceAll(path.sep, "/");
  linked.add(place);
  return `/files/${place}.txt`;
}

/** Copies what is linked to into the site, as text: a browser shows it, whatever its kind. */
export function copyLinkedFiles(site: string): void {
  for (const place of linked) {
    const copy = path.join(site, "files", `${place}.txt`);
    mkdirSync(path.dirname(copy), { recursive: true });
    copyFileSync(path.join(root, place), copy);
  }
}
