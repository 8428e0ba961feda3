// A server under test in a process of its own: started, watched, and ended by its id.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

export interface ContenderOptions {
  readonly name: string;
  readonly script: string;
  readonly folder: string;
  /** Arguments of Node before the script. */
  readonly nodeArguments: readonly string[];
  /** Its environment beside the port. */
  readonly database: string;
  /** And after it. Default: nothing. */
  readonly more?: readonly string[];
  readonly path: (workflow: string) => string;
  readonly body: string;
  /** The request that resumes the workflow `gate` where it waits. */
  readonly resume: (executionId: string) => { readonly path: string; readonly body: string };
}

export interface Contender extends ContenderOptions {
  readonly port: number;
  /** Milliseconds of processor time it has used so far, all threads. */
  cpu(): number;
  /** Resident memory in MB. */
  memory(): number;
  /** Whether it runs or stands still until it is told to go on. */
  run(running: boolean): void;
  stop(): Promise<void>;
}

// One that stands still does not end with the signal that ends this process.
const started = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of started) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

// Clock ticks per second in /proc are 100 on every Linux that Node runs on.
const tick = 10;

export async function startContender(options: ContenderOptions): Promise<Contender> {
  const port = await freePort();
  const args = [
    ...options.nodeArguments,
    options.script,
    String(port),
    options.database,
    ...(options.more ?? []),
  ];
  const child = spawn(process.execPath, args, { cwd: options.folder, stdio: "ignore" });
  started.add(child);
  await answers(child, port, options);
  const stat = () => readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return {
    ...options,
    port,
    cpu: () => (Number(stat()[11]) + Number(stat()[12])) * tick,
    memory: () => (Number(stat()[21]) * 4096) / 1024 / 1024,
    run: (running) => void child.kill(running ? "SIGCONT" : "SIGSTOP"),
    stop: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
      started.delete(child);
    },
  };
}

/**
 * Lets these run and stops the others: the background work of an idle server would be taken from the one that is
 * measured. VoltAgent in memory takes a fifth of a core after a minute of load.
 */
export function runAlone(all: Readonly<Record<string, Contender>>, ...running: readonly Contender[]): void {
  for (const contender of Object.values(all)) contender.run(running.includes(contender));
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("no free port");
  return address.port;
}

/** Waits until the server answers a request as it should. */
async function answers(
  child: ChildProcess,
  port: number,
  { name, path, body }: ContenderOptions,
): Promise<void> {
  const until = performance.now() + 60_000;
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`${name} ended before it answered`);
    try {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`http://127.0.0.1:${port}${path("one")}`, {
        method: "POST",
        headers,
        body,
      });
      if (response.ok) return;
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${name} did not answer within a minute`);
}
