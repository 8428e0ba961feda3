// Starts a server in a process of its own and watches whether that lives.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import type { ServeOptions } from "@andante/server";
import { cleanup } from "../support/cleanup.ts";

export interface ServedProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** The exit code, or the signal that ended it; undefined while it lives. */
  ended(): number | string | undefined;
  /** Its standard error: its log from `warn` on, and the message of a process that dies. */
  errors(): string;
}

export interface ChildOptions extends Pick<ServeOptions, "grace" | "limits"> {
  /** Sockets and routes ask for the token of the tests. */
  readonly protect?: boolean;
}

/** `limit` is the number of files and connections that the process may have open. */
export async function serveInProcess(
  options: ChildOptions = {},
  limit: number | "unlimited" = "unlimited",
): Promise<ServedProcess> {
  const file = path.join(import.meta.dirname, "child.ts");
  const command = [process.execPath, "--conditions=andante-source", file, JSON.stringify(options)];
  const child =
    limit === "unlimited"
      ? spawn(command[0] ?? "", command.slice(1), { stdio: ["ignore", "pipe", "pipe"] })
      : spawn("sh", ["-c", `ulimit -n ${limit}; exec "$@"`, "sh", ...command], {
          stdio: ["ignore", "pipe", "pipe"],
        });
  const closed = once(child, "close");
  cleanup(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  if (value === undefined) throw new Error(`the server did not start: ${errors}`);
  return {
    url: value,
    child,
    ended: () => child.exitCode ?? child.signalCode ?? undefined,
    errors: () => errors,
  };
}
