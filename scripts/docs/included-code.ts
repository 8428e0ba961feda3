// Code on a page that is a file of the repository: a comment `<!-- from: examples/a/src/b.ts -->` before a block names it.
//
// The block is the file without its first comment line, so that a page reads well wherever it is shown; a test compares
// the two, and `npm run docs -- update` writes the blocks again.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const included = /^<!-- from: (\S+) -->\n```(\w+)\n([\s\S]*?)^```$/gm;

export interface IncludedCode {
  readonly file: string;
  readonly onPage: string;
  readonly inFile: string;
}

/** Every block of a page that stands for a file. */
export function includedCode(page: string): IncludedCode[] {
  const text = readFileSync(path.join(root, page), "utf8");
  return [...text.matchAll(included)].map(([, file = "", , onPage = ""]) => ({
    file,
    onPage,
    inFile: contentOf(file),
  }));
}

/** Writes the files' code into the page. */
export function updatePage(page: string): void {
  const place = path.join(root, page);
  const text = readFileSync(place, "utf8");
  const updated = text.replaceAll(
    included,
    (_, file: string, language: string) =>
      `<!-- from: ${file} -->\n\`\`\`${language}\n${contentOf(file)}\`\`\``,
  );
  writeFileSync(place, updated);
}

/** The file's code, without its first line: the page has its own introduction. */
function contentOf(file: string): string {
  return readFileSync(path.join(root, file), "utf8").replace(/^\/\/ .*\n/, "");
}
