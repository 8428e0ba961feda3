// Starts a served process for the fuzzer and watches its life, its output and its memory.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

const memorySchema = z.object({ heapUsed: z.number(), external: z.number(), rss: z.number() });
export type Memory = z.infer<typeof memorySchema>;

/** Milliseconds of the processor since the start, on all threads, and bytes of resident memory, now and at most. */
const usageSchema = z.object({ processor: z.number(), rss: z.number(), maxRss: z.number() });
export type Usage = z.infer<typeof usageSchema>;

/** Lines of the log that report a failure that was not designed. */
const unexpected = /unexpectedly|serving it failed|uncaught|unhandled|listener reported/i;

export class Service {
  readonly url: string;
  /** Lines that no healthy process writes, the first of them. */
  readonly complaints: string[] = [];
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    this.#closed = once(child, "close");
  }

  static async start(mode: string, database: string): Promise<Service> {
    const flags = ["--conditions=andante-source", "--expose-gc"];
    const args = [...flags, path.join(import.meta.dirname, "child.ts"), mode, database];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe", "ipc"] });
    const early: string[] = [];
    const lines = createInterface({ input: child.stderr ?? process.stdin });
    lines.on("line", (line) => early.push(line));
    const [message] = await Promise.race([once(child, "message"), once(child, "exit")]);
    const { data } = z.object({ url: z.string() }).safeParse(message);
    if (data === undefined) throw new Error(`the server did not start: ${early.join("\n")}`);
    const service = new Service(child, data.url);
    for (const line of early) service.#read(line);
    lines.removeAllListeners("line").on("line", (line) => service.#read(line));
    return service;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The exit code, or the signal that ended it; undefined while it lives. */
  get ended(): number | string | undefined {
    return this.#child.exitCode ?? this.#child.signalCode ?? undefined;
  }

  /** After a collection of garbage. */
  async memory(): Promise<Memory> {
    const told = once(this.#child, "message");
    this.#child.send("memory");
    return memorySchema.parse((await told)[0]);
  }

  async usage(): Promise<Usage> {
    const told = once(this.#child, "message");
    this.#child.send("usage");
    return usageSchema.parse((await told)[0]);
  }

  /** Ends it as an operator does; its last output counts too. */
  async stop(): Promise<number | string | undefined> {
    this.#child.kill("SIGTERM");
    await this.#closed;
    return this.ended;
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#closed;
  }

  /** The log is JSON; other output is from Node itself, such as a warning or the message of a dying process. */
  #read(line: string): void {
    const fine = line.startsWith("{") && !unexpected.test(line);
    if (!fine && this.complaints.length < 20) this.complaints.push(line.slice(0, 1000));
  }
}
