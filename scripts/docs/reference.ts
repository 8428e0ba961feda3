// The reference: a page for each entry of each package, with the declarations of its exports.
//
// The declarations are those that the compiler emits, the words are the doc comments: nothing is written twice.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const root = path.resolve(import.meta.dirname, "../..");

export interface Entry {
  /** The import specifier, such as `@andante/core/test`. */
  readonly specifier: string;
  readonly file: string;
  readonly about: string;
}

export const entries: readonly Entry[] = [
  entry("@andante/core", "core/src/index.ts", "define workflows and agents, run them"),
  entry("@andante/core/errors", "core/src/errors/index.ts", "every error that can reach a caller"),
  entry(
    "@andante/core/test",
    "core/src/test-kit/index.ts",
    "crash tests, scripted models, a clock that you move",
  ),
  entry("@andante/core/mcp", "core/src/agent/mcp/index.ts", "tools of MCP servers"),
  entry("@andante/core/store", "core/src/store/index.ts", "the contract for authors of stores"),
  entry("@andante/server", "server/src/index.ts", "serve it over HTTP"),
  entry("@andante/postgres", "postgres/src/index.ts", "the store for many nodes"),
  entry("@andante/restate", "restate/src/index.ts", "the store on Restate"),
  entry("@andante/client", "client/src/index.ts", "call it with types"),
  entry("@andante/client/chat", "client/src/chat/chat-transport.ts", "the transport for useChat"),
  entry("@andante/client/react", "client/src/react/index.ts", "hooks"),
  entry("@andante/client/webhooks", "client/src/webhooks/verify-webhook.ts", "verify what Andante sends"),
  entry("@andante/demo-model", "demo-model/src/index.ts", "a model without a provider"),
];

function entry(specifier: string, file: string, about: string): Entry {
  return { specifier, file: path.join(root, "packages", file), about };
}

/** The name of an entry's page. */
export function pageName({ specifier }: Pick<Entry, "specifier">): string {
  return specifier.replace("@andante/", "").replaceAll("/", "-");
}

/** Writes the pages into a folder, which is emptied first. */
export function writeReference(folder: string): void {
  const program = programOf(entries.map(({ file }) => file));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const declared = new Map<string, ts.SourceFile>();
  for (const one of entries) {
    const items = exportsOf(program, one).map((symbol) => sectionOf(program, symbol, declared));
    const head = `# ${one.specifier}\n\nMade from the types: ${one.about}.\n`;
    writeFileSync(path.join(folder, `${pageName(one)}.md`), `${head}\n${items.join("\n")}`);
  }
}

function programOf(files: readonly string[]): ts.Program {
  const file = path.join(root, "tsconfig.json");
  const { config } = ts.readConfigFile(file, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const own = {
    lib: ["lib.es2024.d.ts", "lib.dom.d.ts", "lib.esnext.disposable.d.ts"],
    jsx: ts.JsxEmit.ReactJSX,
  };
  return ts.createProgram(files, { ...options, ...own, noEmit: false, declaration: true });
}

/** The exports of a module, by name; lower case first, because readers mostly look for functions. */
function exportsOf(program: ts.Program, { file }: Entry): ts.Symbol[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is not a module`);
  const rank = ({ name }: ts.Symbol) => (/^[a-z]/.test(name) ? 0 : 1);
  return checker
    .getExportsOfModule(module)
    .filter(({ name }) => name !== "default")
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

function sectionOf(program: ts.Program, exported: ts.Symbol, declared: Map<string, ts.SourceFile>): string {
  const checker = program.getTypeChecker();
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const source = symbol.declarations?.[0]?.getSourceFile();
  const heading = `## ${exported.name}\n`;
  if (source === undefined || source.fileName.includes("/node_modules/")) {
    const from = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source?.fileName ?? "")?.[1] ?? "elsewhere";
    return `${heading}\nAs it is in \`${from}\`.\n`;
  }
  const statements = declarationsOf(program, source, declared).filter((one) =>
    namesOf(one).includes(symbol.name),
  );
  const documented = statements.find((one) => ts.getJSDocCommentsAndTags(one).length > 0) ?? statements[0];
  const code = statements
    .map((one) => one.getText().replace(/^export (default )?(declare )?/, ""))
    .join("\n");
  return `${heading}${documented ? wordsOf(documented) : ""}\n\`\`\`ts\n${code}\n\`\`\`\n`;
}

/** The statements of a file as the compiler emits its declarations. */
function declarationsOf(
  program: ts.Program,
  source: ts.SourceFile,
  declared: Map<string, ts.SourceFile>,
): readonly ts.Statement[] {
  const known = declared.get(source.fileName);
  if (known !== undefined) return known.statements;
  let text = "";
  program.emit(
    source,
    (_, emitted) => {
      text = emitted;
    },
    undefined,
    true,
  );
  const parsed = ts.createSourceFile(source.fileName, text, ts.ScriptTarget.Latest, true);
  declared.set(source.fileName, parsed);
  return parsed.statements;
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement);
  return isNamed && statement.name !== undefined ? [statement.name.text] : [];
}

/** The doc comment of a declaration, with its examples. */
function wordsOf(statement: ts.Statement): string {
  let words = "";
  for (const part of ts.getJSDocCommentsAndTags(statement)) {
    if (!ts.isJSDoc(part)) continue;
    const text = ts.getTextOfJSDocComment(part.comment);
    if (text !== undefined) words += `\n${harmless(text)}\n`;
    for (const tag of part.tags ?? []) {
      const said = ts.getTextOfJSDocComment(tag.comment);
      if (tag.tagName.text === "example" && said !== undefined) words += `\n${said}\n`;
    }
  }
  return words;
}

/** Text that a page takes for text: angle brackets and braces outside of code are not markup. */
function harmless(text: string): string {
  const parts = text.split(/(`[^`]*`)/);
  return parts.map((part, index) => (index % 2 ? part : part.replaceAll("<", "&lt;"))).join("");
}
