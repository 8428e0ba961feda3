// Runs one life of the process under test, from its start to its kill or its end.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Counts, type Instructions, type Report, reportSchema } from "./instructions.ts";

export type LifeEnd =
  /** SIGKILL ended it. */
  | { readonly kind: "killed" }
  /** All its executions ended, and it ended in order. */
  | { readonly kind: "done"; readonly counts: Counts; readonly milliseconds: number }
  /** It failed, or did not come to an end. */
  | { readonly kind: "failed"; readonly problem: string };

export interface LifeOptions {
  readonly instructions: Instructions;
  /** Where its standard output and error go. */
  readonly output: string;
}

const childFile = fileURLToPath(new URL("./child/main.ts", import.meta.url));

/**
 * Milliseconds after which a life that was not killed counts as stuck. A life takes half a second; on a machine that
 * ten others use, one with several megabytes to recover took 25 s.
 */
const patience = 90_000;

export async function runLife(options: LifeOptions): Promise<LifeEnd> {
  const { instructions } = options;
  const child = startChild(options);
  let readyAt = performance.now();
  const reports = new Map<Report["kind"], Report>();
  const { kill } = instructions;
  let killTimer: NodeJS.Timeout | undefined;
  let stuck = false;
  const killLater = (milliseconds: number) => {
    killTimer = setTimeout(() => child.kill("SIGKILL"), milliseconds);
  };
  const stuckTimer = setTimeout(() => {
    stuck = true;
    child.kill("SIGKILL");
  }, patience);
  if (kill.kind === "outside" && kill.since === "spawn") killLater(kill.milliseconds);
  child.on("message", (message) => {
    const report = reportSchema.parse(message);
    reports.set(report.kind, report);
    if (report.kind === "ready") readyAt = performance.now();
    if (kill.kind === "outside" && kill.since === report.kind) killLater(kill.milliseconds);
    if (report.kind === "done") clearTimeout(killTimer);
  });
  const exit = await exited(child);
  clearTimeout(killTimer);
  clearTimeout(stuckTimer);
  if (stuck) return { kind: "failed", problem: `stuck: not at its end after ${patience} ms` };
  return endOf(exit, reports, performance.now() - readyAt);
}

function startChild({ instructions, output }: LifeOptions): ChildProcess {
  const descriptor = openSync(output, "a");
  try {
    return spawn(process.execPath, ["--conditions=andante-source", childFile, JSON.stringify(instructions)], {
      stdio: ["ignore", descriptor, descriptor, "ipc"],
    });
  } finally {
    closeSync(descriptor);
  }
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

function exited(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    // "close" comes after the last message was delivered, "exit" may come before it.
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}

function endOf(exit: Exit, reports: ReadonlyMap<Report["kind"], Report>, milliseconds: number): LifeEnd {
  const failed = reports.get("failed");
  if (failed?.kind === "failed") return { kind: "failed", problem: failed.message };
  const done = reports.get("done");
  if (done?.kind === "done") {
    return { kind: "done", counts: done.counts, milliseconds };
  }
  if (exit.signal === "SIGKILL") return { kind: "killed" };
  return { kind: "failed", problem: `ended by itself with code ${exit.code} and signal ${exit.signal}` };
}
