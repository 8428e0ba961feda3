// A server in a process of its own, which a test kills. Its script prints its address.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { cleanup } from "./cleanup.ts";

export interface ServerProcess {
  readonly url: string;
  kill(): Promise<void>;
}

export async function startServerProcess(script: string, args: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, ["--conditions=andante-source", script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () => killed(child);
  cleanup(kill);
  const { value: url } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (url === undefined) throw new Error("the server did not start");
  return { url, kill };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** The path of a database file that is removed after the test. */
export function temporaryDatabase(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "andante-server-"));
  cleanup(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, "test.db");
}
