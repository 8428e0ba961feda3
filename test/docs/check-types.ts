// Type-checks modules that exist in memory only, all in one program, with the project's own settings.
import path from "node:path";
import ts from "typescript";
import { type Module, root } from "./pages.ts";

/** The compiler's messages about the modules, as `page:line: message`. */
export function checkTypes(modules: readonly Module[]): string[] {
  const sources = new Map(modules.map((module) => [pathOf(module), module]));
  const options = { ...projectOptions(), ...ofDocuments };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.fileExists = (file) => sources.has(file) || fileExists(file);
  host.readFile = (file) => sources.get(file)?.code ?? readFile(file);
  host.getSourceFile = (file, languageVersion, ...rest) => {
    const code = sources.get(file)?.code;
    if (code === undefined) return getSourceFile(file, languageVersion, ...rest);
    return ts.createSourceFile(file, code, languageVersion);
  };
  const program = ts.createProgram([...sources.keys()], options, host);
  const problems = program.getOptionsDiagnostics().map((each) => textOf(each));
  for (const [file, module] of sources) {
    const source = program.getSourceFile(file);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    problems.push(...found.map((each) => `${placeOf(module, each)}: ${textOf(each)}`));
  }
  return problems;
}

/** Where a module would lie: beside this file, so that packages are found as they are by the tests. */
function pathOf({ page, name }: Module): string {
  return path.join(import.meta.dirname, "pages", page.replaceAll("/", "-"), name);
}

// The page of a chat needs a browser's types. An example may declare names that it does not use.
const ofDocuments: ts.CompilerOptions = {
  lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts"],
  jsx: ts.JsxEmit.ReactJSX,
  noUnusedLocals: false,
  noUnusedParameters: false,
};

function projectOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile);
  return ts.convertCompilerOptionsFromJson(config.compilerOptions, root).options;
}

function placeOf({ page }: Module, { file, start }: ts.Diagnostic): string {
  const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
  return `${page}:${line}`;
}

function textOf({ messageText }: ts.Diagnostic): string {
  return ts.flattenDiagnosticMessageText(messageText, "\n");
}
