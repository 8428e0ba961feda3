// Kills the process of a chat around each of its writes and inside each of its tools, twice in a row where it comes to
// that, and checks that nothing is done again after its commit and that the chat ends as without kills.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Store, sqliteStore } from "@andante/core";
import type { Kill } from "../instructions.ts";
import { type ChatEnd, type ChatLife, chatEndSchema } from "./protocol.ts";

/** A line of the log of a chat. */
export interface Effect {
  /** Such as the name of a tool; the same for the same work. */
  readonly name: string;
  /** Empty where the work does not know it. */
  readonly executionId: string;
}

/** A chat that is killed. */
export interface ChatCase {
  /** The script of its process, beside this file. */
  readonly script: string;
  /** The names of the effects that the journals hold, of the executions that the log names. */
  recorded(store: Store, executionIds: readonly string[]): Promise<readonly string[]>;
  /** The faults of an end beside one without kills, with the log of all lives. */
  problems(
    end: ChatEnd,
    expected: ChatEnd,
    run: { log: readonly Effect[]; kills: number },
  ): readonly string[];
}

export interface ChatTotals {
  readonly kills: number;
  readonly trials: number;
  /** The faults, a line for each. */
  readonly problems: readonly string[];
}

/** At least so many kills, spread over all boundaries. */
export async function runChats(
  chat: ChatCase,
  options: {
    readonly folder: string;
    readonly kills: number;
    readonly seed: number;
    /** Of each first life. Default: those around each write and inside of each tool, one after the other. */
    readonly kill?: Kill;
    /** Called after each trial, with all kills so far. */
    onTrial?(kills: number): void;
  },
): Promise<ChatTotals> {
  const { folder } = options;
  const problems: string[] = [];
  let kills = 0;
  let trials = 0;
  if (options.kills === 0) return { kills, trials, problems };
  const expected = await undisturbed(chat, folder);
  const boundaries = boundariesOf(expected);
  // Few kills are spread, too.
  const stride = Math.max(1, Math.floor((2 * boundaries.length) / options.kills));
  while (kills < options.kills && problems.length === 0) {
    const first = options.kill ?? boundaries[(options.seed + trials * stride) % boundaries.length];
    // The second life is killed, too, somewhere else each time round.
    const second = boundaries[(options.seed + trials * 7 + 3) % boundaries.length];
    if (first === undefined || second === undefined) break;
    const trial = await runTrial(chat, folder, [first, second], expected);
    kills += trial.kills;
    trials++;
    options.onTrial?.(kills);
    problems.push(...trial.problems.map((problem) => `${JSON.stringify([first, second])}: ${problem}`));
  }
  return { kills, trials, problems };
}

async function undisturbed(chat: ChatCase, folder: string): Promise<ChatEnd> {
  const trial = mkdtempSync(path.join(folder, "chat-"));
  const end = await runLife(chat, lifeIn(trial, { kind: "none" }));
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

/** One chat, whose processes are killed one after the other; the last one lives. */
async function runTrial(
  chat: ChatCase,
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
    const recorded = await recordedIn(chat, life);
    const before = runsOf(life);
    end = await runLife(chat, life);
    const after = runsOf(life);
    for (const name of recorded) {
      if (after.get(name) !== before.get(name)) problems.push(`${name} was recorded and ran again`);
    }
    if (end !== undefined) break;
    killed++;
  }
  const log = effectsIn(path.join(trial, "effects.log"));
  if (end === undefined) problems.push("the last life was killed, though nobody was to kill it");
  else problems.push(...chat.problems(end, expected, { log, kills: killed }));
  if (problems.length === 0) rmSync(trial, { recursive: true, force: true });
  return { kills: killed, problems };
}

function lifeIn(folder: string, kill: Kill): ChatLife {
  return { database: path.join(folder, "andante.db"), log: path.join(folder, "effects.log"), kill };
}

/** Resolves to its report; undefined when it was killed. */
async function runLife({ script }: ChatCase, life: ChatLife): Promise<ChatEnd | undefined> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, ["--conditions=andante-source", file, JSON.stringify(life)], {
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

/** How often each effect has happened. */
function runsOf({ log }: ChatLife): Map<string, number> {
  const runs = new Map<string, number>();
  for (const { name } of effectsIn(log)) runs.set(name, (runs.get(name) ?? 0) + 1);
  return runs;
}

/** Lines of a name and an idempotency key, whose first part is the execution's id. */
function effectsIn(log: string): Effect[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [name = "", key = ""] = line.split(" ");
    return { name, executionId: key.split(":")[0] ?? "" };
  });
}

async function recordedIn(chat: ChatCase, { database, log }: ChatLife): Promise<readonly string[]> {
  const named = effectsIn(log).map(({ executionId }) => executionId);
  const executionIds = [...new Set(named)].filter((each) => each !== "");
  if (executionIds.length === 0) return [];
  const store = sqliteStore({ path: database });
  await store.open();
  try {
    return await chat.recorded(store, executionIds);
  } finally {
    await store.close();
  }
}
