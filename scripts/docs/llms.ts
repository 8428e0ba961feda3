// llms.txt: the pages of the documentation as a list that language models read, and the pages as plain Markdown beside it.
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Writes llms.txt and a copy of every page into the built site. */
export function writeForModels(pages: string, site: string): void {
  const files = globSync("**/*.md", { cwd: pages })
    .filter((file) => !file.startsWith("node_modules"))
    .sort();
  for (const file of files) {
    mkdirSync(path.dirname(path.join(site, file)), { recursive: true });
    copyFileSync(path.join(pages, file), path.join(site, file));
  }
  const line = (file: string) => {
    const { title, about } = summaryOf(readFileSync(path.join(pages, file), "utf8"));
    return `- [${title}](/${file})${about === "" ? "" : `: ${about}`}`;
  };
  const under = (folder: string) => files.filter((file) => path.dirname(file) === folder).map(line);
  const sections = {
    Guide: files.filter((file) => path.dirname(file) === "." && file !== "README.md").map(line),
    Recipes: under("recipes"),
    Reference: under("reference"),
    Decisions: under("decisions"),
  };
  const text = Object.entries(sections).map(([name, lines]) => `## ${name}\n\n${lines.join("\n")}\n`);
  const head = "# Andante\n\n> A TypeScript server for durable workflows and AI agents.\n";
  writeFileSync(path.join(site, "llms.txt"), [head, ...text].join("\n"));
}

/** The title of a page, and its first sentence. */
export function summaryOf(text: string): { readonly title: string; readonly about: string } {
  const title = /^# (.*)$/m.exec(text)?.[1] ?? "";
  const paragraphs = text.replace(/^---\n[\s\S]*?\n---\n/, "").split(/\n\n+/);
  const first = paragraphs.find((paragraph) => /^[A-Za-z`[*]/.test(paragraph)) ?? "";
  const plain = first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("\n", " ");
  return { title, about: /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain };
}
