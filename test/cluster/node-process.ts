// One node of the cluster as the parent sees it: a process that is started, killed, frozen and stopped.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type NodeSettings, readySchema } from "./node/settings.ts";

const file = fileURLToPath(new URL("./node/main.ts", import.meta.url));
/** A node compiles its sources once and not at each start, where compiling takes most of the time. */
const cache = fileURLToPath(new URL("../../node_modules/.cache/andante-compile", import.meta.url));

export class NodeProcess {
  readonly url: string;
  readonly settings: NodeSettings;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string, settings: NodeSettings) {
    this.#child = child;
    this.url = url;
    this.settings = settings;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves once it serves. A node that finds no database ends, and is started again as a supervisor would do. */
  static async start(settings: NodeSettings, attempts = 20): Promise<NodeProcess> {
    const env = { NODE_COMPILE_CACHE: cache, ...process.env };
    for (let attempt = 1; ; attempt++) {
      const args = ["--conditions=andante-source", file, JSON.stringify(settings)];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "pipe", "ipc"], env });
      let complaint = "";
      child.stderr?.on("data", (text) => {
        complaint += text;
      });
      const ready = once(child, "message");
      const ended = once(child, "close");
      const first = await Promise.race([ready, ended.then(() => undefined)]);
      if (first !== undefined) return new NodeProcess(child, readySchema.parse(first[0]).url, settings);
      if (attempt === attempts) throw new Error(`a node does not start: ${complaint}`);
    }
  }

  /** SIGKILL: nothing is released, nothing is said. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** SIGTERM: it finishes its running steps, releases its claims and ends. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  freeze(): void {
    this.#child.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child.kill("SIGCONT");
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }
}
