// Lists every fault that Stryker can put into the rooms that matter most, and chooses a sample of them.
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Mutant } from "@stryker-mutator/api/core";
import { Instrumenter } from "@stryker-mutator/instrumenter";
import ts from "typescript";

/** The rooms by name. */
export const rooms: Readonly<Record<string, string>> = {
  execution: "packages/core/src/execution",
  store: "packages/core/src/store",
  agent: "packages/core/src/agent",
  auth: "packages/server/src/auth",
  socket: "packages/server/src/socket",
};

/** One fault: a piece of source, and its replacement. */
export type Fault = Pick<Mutant, "fileName" | "location" | "mutatorName" | "replacement">;

type Place = Fault["location"]["start"];

const silent = () => undefined;
const no = () => false;
const logger = {
  ...{ isTraceEnabled: no, isDebugEnabled: no, isInfoEnabled: no },
  ...{ isWarnEnabled: no, isErrorEnabled: no, isFatalEnabled: no },
  ...{ trace: silent, debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
};

/** In the order of rooms, files and places: the same on every machine. */
export async function listFaults(root: string): Promise<Fault[]> {
  const files = Object.values(rooms).flatMap((folder) =>
    globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ["**/*.test.ts", "**/*.test-d.ts"] }).sort(),
  );
  const contents = files.map((name) => ({
    name,
    mutate: true,
    content: readFileSync(path.join(root, name), "utf8"),
  }));
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const { mutants } = await new Instrumenter(logger).instrument(contents, options);
  return mutants.filter(({ status }) => status === undefined);
}

/** By a hash of the text of each, not of its position: a change of the sources affects only the faults it touches. */
export function sampleOf(root: string, faults: readonly Fault[], wanted: number, seed: number): Fault[] {
  const lines = new Map<string, string[]>();
  const seen = new Map<string, number>();
  const hashed = faults.map((fault) => {
    const { fileName, location, mutatorName, replacement } = fault;
    let text = lines.get(fileName);
    if (text === undefined) {
      text = readFileSync(path.join(root, fileName), "utf8").split("\n");
      lines.set(fileName, text);
    }
    const line = text[location.start.line]?.trim();
    const words = [fileName, line, location.start.column, mutatorName, replacement].join("|");
    const before = seen.get(words) ?? 0;
    seen.set(words, before + 1);
    return { fault, hash: createHash("sha256").update(`${seed}|${words}|${before}`).digest("hex") };
  });
  return hashed
    .toSorted((left, right) => (left.hash < right.hash ? -1 : 1))
    .slice(0, wanted)
    .map(({ fault }) => fault);
}

/** Whether it is in a function, and so is reached when that is called, not only while its module loads. */
export function isInFunction(root: string, { fileName, location: { start } }: Fault): boolean {
  const text = readFileSync(path.join(root, fileName), "utf8");
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true);
  const position = source.getPositionOfLineAndCharacter(start.line, start.column);
  const isInside = (node: ts.Node): boolean => {
    if (position < node.pos || position >= node.end) return false;
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined)
      return position > node.getStart();
    return ts.forEachChild(node, isInside) ?? false;
  };
  return isInside(source);
}

export function roomOf({ fileName }: Fault): string {
  const found = Object.entries(rooms).find(([, folder]) => fileName.startsWith(`${folder}/`));
  return found?.[0] ?? "";
}

/** Identifies the fault: several may be at one place. */
export function keyOf({ fileName, location, mutatorName, replacement }: Fault): string {
  const { start, end } = location;
  return [fileName, start.line, start.column, end.line, end.column, mutatorName, replacement].join("|");
}

/** The same of a result, whose lines and columns count from 1 and whose file has its whole path. */
export function keyOfResult(root: string, { fileName, location, ...rest }: Fault): string {
  const back = ({ line, column }: Place) => ({ line: line - 1, column: column - 1 });
  const place = { start: back(location.start), end: back(location.end) };
  return keyOf({ ...rest, location: place, fileName: path.relative(root, fileName) });
}

/** The place as Stryker's `mutate` wants it: lines from 1. */
export function rangeOf({ fileName, location: { start, end } }: Fault): string {
  return `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
}
