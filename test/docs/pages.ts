// The code in the documents, as modules that a compiler and Node can take.
//
// A block of `ts` or `tsx` that starts with an `import` or a `// file: name.ts` comment starts a module; the blocks after it
// belong to the same module. A line has the same number in its module and on its page, so that errors name the page's line.
// A comment `<!-- not run: why -->` before a block means that its module is checked only.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export const root = path.resolve(import.meta.dirname, "../..");

/** A fenced block. */
export interface Block {
  readonly language: string;
  /** The line of its first line of code; the first line of a page is 0. */
  readonly line: number;
  readonly lines: readonly string[];
  /** The reason not to run it, where the page gives one. */
  readonly notRun: string | undefined;
}

export interface Module {
  /** The path of the page from the root. */
  readonly page: string;
  /** The file's name: from its `// file:` comment, else its number on the page. */
  readonly name: string;
  /** Lines of the page that are not part of it are empty. */
  readonly code: string;
  readonly notRun: string | undefined;
  /** The commands of `sh` blocks that stand after it and before the next module. */
  readonly commands: readonly Command[];
}

/** A command line, and its output according to the lines after it. */
export interface Command {
  readonly line: number;
  readonly text: string;
  readonly prints: string;
}

/** Every page whose code is checked. */
export function pages(): string[] {
  const packages = readdirSync(path.join(root, "packages")).map((name) => `packages/${name}/README.md`);
  const topics = readdirSync(path.join(root, "docs")).map((name) => `docs/${name}`);
  const all = ["README.md", "CONTRIBUTING.md", "SECURITY.md", ...topics, ...packages];
  return all.filter((page) => page.endsWith(".md") && readPage(page) !== undefined);
}

function readPage(page: string): string | undefined {
  try {
    return readFileSync(path.join(root, page), "utf8");
  } catch {
    return undefined;
  }
}

export function modulesOf(page: string): Module[] {
  const text = readPage(page) ?? "";
  return modulesIn(page, text);
}

export function modulesIn(page: string, text: string): Module[] {
  const groups: Block[][] = [];
  for (const block of blocksOf(text)) {
    const startsModule = isCode(block) && /^(import\b|\/\/ file: )/.test(block.lines[0] ?? "");
    if (startsModule || (groups.length === 0 && isCode(block))) groups.push([block]);
    else groups.at(-1)?.push(block);
  }
  const count = text.split("\n").length;
  return groups.map((blocks, index) => toModule(page, index + 1, blocks, count));
}

function toModule(page: string, number: number, blocks: readonly Block[], count: number): Module {
  const code = blocks.filter(isCode);
  const lines: string[] = Array.from({ length: count }, () => "");
  for (const block of code) lines.splice(block.line, block.lines.length, ...block.lines);
  const extension = code.some(({ language }) => language === "tsx") ? "tsx" : "ts";
  const name = /^\/\/ file: (\S+)/.exec(code[0]?.lines[0] ?? "")?.[1] ?? `block-${number}.${extension}`;
  const notRun = code.map((block) => block.notRun).find((why) => why !== undefined);
  const commands = blocks.filter(({ language }) => language === "sh").flatMap(commandsOf);
  return { page, name, code: lines.join("\n"), notRun, commands };
}

/** The commands of a block; lines that begin with `# →` state the output of the command above. */
function commandsOf({ line, lines, notRun }: Block): Command[] {
  if (notRun !== undefined) return [];
  const commands: { line: number; text: string; prints: string }[] = [];
  let continued = false;
  for (const [index, text] of lines.entries()) {
    const last = commands.at(-1);
    if (text.startsWith("#")) {
      if (last && text.startsWith("# →")) last.prints += text.slice("# →".length);
    } else if (last && continued) last.text += `\n${text}`;
    else if (text.trim() !== "") commands.push({ line: line + index, text, prints: "" });
    continued = text.endsWith("\\");
  }
  return commands;
}

function isCode({ language }: Block): boolean {
  return language === "ts" || language === "tsx";
}

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const language = /^```(\w+)$/.exec(lines[index] ?? "")?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf("```", index + 1);
    const notRun = /^<!-- not run: (.*) -->$/.exec(lines[index - 1] ?? "")?.[1];
    blocks.push({ language, line: index + 1, lines: lines.slice(index + 1, end), notRun });
    index = end;
  }
  return blocks;
}
