// The processes of the cluster: started, killed and started again.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const nodeFile = fileURLToPath(new URL("./node.ts", import.meta.url));

export type NodeStatus = "starting" | "up" | "down";

/** One node of the cluster; its process changes. */
export class ClusterNode {
  readonly #settings: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;
  #url: string | undefined;

  /** `settings`: the environment that names its database. */
  constructor(settings: Readonly<Record<string, string>>) {
    this.#settings = settings;
  }

  get status(): NodeStatus {
    if (this.#process === undefined) return "down";
    return this.#url === undefined ? "starting" : "up";
  }

  /** Its URL; undefined unless it is up. */
  get url(): string | undefined {
    return this.#url;
  }

  /** Resolves when it listens; rejects with its errors when it has ended before. */
  async start(): Promise<void> {
    if (this.#process !== undefined) return;
    const child = fork(nodeFile, {
      execArgv: process.execArgv,
      env: { ...process.env, ...this.#settings },
      stdio: ["ignore", "inherit", "pipe", "ipc"],
    });
    this.#process = child;
    let errors = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (this.#url === undefined) errors += text;
      else process.stderr.write(text);
    });
    const gone = once(child, "close").then(([code]) => {
      if (this.#process !== child) return undefined;
      this.#process = undefined;
      this.#url = undefined;
      return code;
    });
    const listening = once(child, "message").then(([message]) => {
      if (this.#process !== child) return;
      this.#url = urlIn(message);
      process.stderr.write(errors);
    });
    const code: unknown = await Promise.race([listening, gone]);
    if (typeof code === "number") throw new Error(`A node ended with ${code} when it started: ${errors}`);
  }

  /** Kills the process at once, like a lack of memory or a power failure. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    this.#url = undefined;
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
}

function urlIn(message: unknown): string {
  const { url } = Object(message);
  if (typeof url !== "string") throw new Error("A node said something else than where it listens");
  return url;
}
