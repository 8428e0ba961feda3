// The verdict on each fault: counts by folder, and a page of the undetected ones.
import { readFileSync } from "node:fs";
import path from "node:path";
import { type Fault, roomOf, rooms } from "./faults.ts";
import type { Tried } from "./tried.ts";

const kinds = ["killed", "timeout", "survived", "no coverage", "error"] as const;
type Kind = (typeof kinds)[number];

export interface Verdict {
  readonly room: string;
  readonly kind: Kind;
  readonly fault: Fault;
  /** The first test that failed, or the error. */
  readonly by: string;
}

export function verdictOf(fault: Fault, { status, reason, killedBy }: Tried): Verdict {
  return { room: roomOf(fault), kind: kindOf(status, reason), fault, by: killedBy || reason };
}

/** Tests that only waited too long have noticed a fault by chance: those count as timeouts, not as killed. */
function kindOf(status: string, reason: string): Kind {
  if (status === "Killed") return /timed out in \d+ ?ms/i.test(reason) ? "timeout" : "killed";
  if (status === "Timeout") return "timeout";
  if (status === "Survived") return "survived";
  return status === "NoCoverage" ? "no coverage" : "error";
}

/** A table in plain text, and the part that assertions killed. */
export function countsByRoom(verdicts: readonly Verdict[]): string[] {
  const row = (cells: readonly (string | number)[]) =>
    cells.map((cell) => String(cell).padStart(12)).join("");
  const lines = [row(["room", "faults", ...kinds, "killed %"])];
  for (const room of [...Object.keys(rooms), "all"]) {
    const inside = verdicts.filter((verdict) => room === "all" || verdict.room === room);
    if (inside.length === 0) continue;
    const counts = kinds.map((kind) => inside.filter((verdict) => verdict.kind === kind).length);
    lines.push(row([room, inside.length, ...counts, ((100 * (counts[0] ?? 0)) / inside.length).toFixed(1)]));
  }
  return lines;
}

/** Each fault that was not killed, with its line before and after. */
export function survivorsPage(root: string, verdicts: readonly Verdict[]): string {
  const left = verdicts.filter(({ kind }) => kind !== "killed");
  const parts = left.map(({ fault, kind, room, by }, index) => {
    const { fileName, location, mutatorName, replacement } = fault;
    const lines = readFileSync(path.join(root, fileName), "utf8").split("\n");
    const before = lines.slice(location.start.line, location.end.line + 1).join("\n");
    const head = lines[location.start.line]?.slice(0, location.start.column) ?? "";
    const tail = lines[location.end.line]?.slice(location.end.column) ?? "";
    return [
      `## ${index + 1}. ${room}, ${kind}: ${fileName}:${location.start.line + 1} (${mutatorName})`,
      ...(by === "" ? [] : ["", by.split("\n")[0] ?? ""]),
      "```diff",
      ...before.split("\n").map((line) => `- ${line}`),
      ...`${head}${replacement}${tail}`.split("\n").map((line) => `+ ${line}`),
      "```",
    ].join("\n");
  });
  return `# Faults that no assertion noticed\n\n${parts.join("\n\n")}\n`;
}
