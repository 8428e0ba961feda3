// Counts the comment lines that use a pronoun where a noun would name the subject, per folder.
//
// `npm run comments` prints the shares; `npm run comments -- <folder or file> …` lists the lines below those paths.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const root = path.dirname(import.meta.dirname);
const pronouns = /\b(?:what|whoever|whatever|nobody|somebody)\b/i;
const files = "{packages,test,bench,scripts,examples}/**/*.{ts,tsx,mts,mjs,css,sql}";

interface CommentLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** The lines of all comments that contain a letter. */
function commentLines(file: string): CommentLine[] {
  const source = readFileSync(path.join(root, file), "utf8");
  const lines = new Map<number, string>();
  for (const [start, end] of /\.(?:css|sql)$/.test(file)
    ? plainComments(source)
    : codeComments(file, source)) {
    const first = source.slice(0, start).split("\n").length;
    for (const [index, text] of source.slice(start, end).split("\n").entries())
      if (/[a-z]/i.test(text)) lines.set(first + index, text.trim());
  }
  return [...lines].map(([line, text]) => ({ file, line, text }));
}

/** Comments of CSS and SQL. Good enough for our files, which have no comment marks in strings. */
function plainComments(source: string): [number, number][] {
  const marks = source.matchAll(/\/\*[\s\S]*?\*\/|^\s*--[^\n]*/gm);
  return [...marks].map(({ index, 0: text }) => [index, index + text.length]);
}

/** Comments between the tokens of TypeScript or JavaScript, so that marks in strings and patterns do not count. */
function codeComments(file: string, source: string): [number, number][] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const found: [number, number][] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node) || ts.isJsxText(node)) return;
    const ranges = [
      ...(ts.getLeadingCommentRanges(source, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
    ];
    const children = node.getChildren(tree);
    if (children.length === 0) for (const { pos, end } of ranges) found.push([pos, end]);
    for (const child of children) visit(child);
  };
  visit(tree);
  return found;
}

/** `packages/core/src`, `test/auth`, `scripts`: the folder of a file, up to this depth. */
function folderOf(file: string): string {
  return path.posix
    .dirname(file)
    .split("/")
    .slice(0, file.startsWith("packages/") ? 3 : 2)
    .join("/");
}

const below = process.argv.slice(2).map((folder) => folder.replace(/\/$/, ""));
const all = globSync(files, {
  cwd: root,
  exclude: (name) => /(?:^|\/)(?:node_modules|dist|\.cache)$/.test(name),
})
  .map((file) => file.replaceAll(path.sep, "/"))
  .sort()
  .flatMap(commentLines);

if (below.length > 0) {
  const isBelow = ({ file }: CommentLine) =>
    below.some((folder) => file === folder || file.startsWith(`${folder}/`));
  for (const { file, line, text } of all.filter(isBelow))
    if (pronouns.test(text)) process.stdout.write(`${file}:${line}: ${text}\n`);
} else {
  const row = (name: string, lines: readonly CommentLine[]) => {
    const hits = lines.filter(({ text }) => pronouns.test(text)).length;
    const share = ((100 * hits) / lines.length).toFixed(1);
    process.stdout.write(
      `${name.padEnd(32)} ${String(hits).padStart(6)} of ${String(lines.length).padStart(6)} ${share.padStart(6)} %\n`,
    );
  };
  for (const [name, lines] of Map.groupBy(all, ({ file }) => folderOf(file))) row(name, lines);
  row("all", all);
}
