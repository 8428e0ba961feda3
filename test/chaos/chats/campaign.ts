// Kills the process of a chat around each of its writes and inside each of its tools, twice in a row where it comes to
// that, and checks the calls of tools, the journal, the conversation and the client's view.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { sqliteStore } from "@andante/core";
import { toolNames, wholeUsage } from "../../../packages/core/test/turns/five-tools.ts";
import type { Kill } from "../instructions.ts";
import { type ChatEnd, type ChatLife, chatEndSchema } from "./protocol.ts";

export interface ChatTotals {
  readonly kills: number;
  readonly trials: number;
  /** The faults, a line for each. */
  readonly problems: readonly string[];
}

const childFile = fileURLToPath(new URL("./child.ts", import.meta.url));

/** At least so many kills, spread over all boundaries. */
export async function runChats(options: { folder: string; kills: number }): Promise<ChatTotals> {
  const { folder } = options;
  const expected = await undisturbed(folder);
  const problems: string[] = [];
  let kills = 0;
  let trials = 0;
  const boundaries = boundariesOf(expected);
  while (kills < options.kills && problems.length === 0) {
    const first = boundaries[trials % boundaries.length];
    // The second life is killed, too, somewhere else each time round.
    const second = boundaries[(trials * 7 + 3) % boundaries.length];
    if (first === undefined || second === undefined) break;
    const trial = await runTrial(folder, [first, second], expected);
    kills += trial.kills;
    trials++;
    problems.push(...trial.problems.map((problem) => `${JSON.stringify([first, second])}: ${problem}`));
  }
  return { kills, trials, problems };
}

async function undisturbed(folder: string): Promise<ChatEnd> {
  const trial = mkdtempSync(path.join(folder, "chat-"));
  const end = await runLife(lifeIn(trial, { kind: "none" }));
  rmSync(trial, { recursive: true, force: true });
  if (end === undefined) throw new Error("the undisturbed chat was killed");
  return end;
}

function boundariesOf({ writes, moments }: ChatEnd): Kill[] {
  const all: Kill[] = [];
  for (let number = 1; number <= writes; number++) {
    for (const phase of ["before", "during", "after"] as const) all.push({ kind: "write", number, phase });
  }
  for (let number = 1; number <= moments; number++) all.push({ kind: "body", number });
  return all;
}

function lifeIn(folder: string, kill: Kill): ChatLife {
  return { database: path.join(folder, "andante.db"), log: path.join(folder, "tools.log"), kill };
}

async function runTrial(
  folder: string,
  kills: readonly Kill[],
  expected: ChatEnd,
): Promise<{ kills: number; problems: string[] }> {
  const trial = mkdtempSync(path.join(folder, "chat-"));
  const problems: string[] = [];
  let killed = 0;
  let end: ChatEnd | undefined;
  for (const kill of [...kills, { kind: "none" } as const]) {
    const life = lifeIn(trial, kill);
    const recorded = await recordedTools(life);
    const before = runsOf(life);
    end = await runLife(life);
    const after = runsOf(life);
    for (const name of recorded) {
      if (after.get(name) !== before.get(name)) problems.push(`${name} was recorded and ran again`);
    }
    if (end !== undefined) break;
    killed++;
  }
  if (end === undefined) problems.push("the last life was killed, though nobody was to kill it");
  else problems.push(...differences(end, expected));
  if (problems.length === 0) rmSync(trial, { recursive: true, force: true });
  return { kills: killed, problems };
}

function differences(end: ChatEnd, expected: ChatEnd): string[] {
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const problems: string[] = [];
  if (!same(end.kept, expected.kept)) problems.push(`kept ${JSON.stringify(end.kept)}`);
  if (!same(end.usage, wholeUsage)) problems.push(`used ${JSON.stringify(end.usage)}`);
  if (end.seen !== null && !same(end.seen, expected.seen)) problems.push(`seen ${JSON.stringify(end.seen)}`);
  return problems;
}

/** Resolves to its report; undefined when it was killed. */
async function runLife(life: ChatLife): Promise<ChatEnd | undefined> {
  const child = spawn(process.execPath, ["--conditions=andante-source", childFile, JSON.stringify(life)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  let end: ChatEnd | undefined;
  child.on("message", (message) => {
    end = chatEndSchema.parse(message);
  });
  const [code, signal] = await once(child, "close");
  if (end !== undefined || signal === "SIGKILL") return end;
  throw new Error(`the process of a chat ended by itself with code ${code} and signal ${signal}`);
}

/** How often each tool has run. */
function runsOf({ log }: ChatLife): Map<string, number> {
  const runs = new Map<string, number>();
  for (const [name] of linesOf(log)) runs.set(name, (runs.get(name) ?? 0) + 1);
  return runs;
}

/** Tool and idempotency key, whose first part is the execution's id. */
function linesOf(log: string): [name: string, executionId: string][] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [name = "", key = ""] = line.split(" ");
    return [name, key.split(":")[0] ?? ""];
  });
}

/** The tools whose outcome the journal holds. */
async function recordedTools({ database, log }: ChatLife): Promise<string[]> {
  const executionId = linesOf(log).at(-1)?.[1];
  if (executionId === undefined) return [];
  const store = sqliteStore({ path: database });
  await store.open();
  try {
    const events = await store.events({ executionId, after: 0, limit: 1_000 });
    return toolNames.filter((name) =>
      events.some(({ path: at, detail }) => at?.includes(".tool[") && detail?.includes(`"${name}"`)),
    );
  } finally {
    await store.close();
  }
}
