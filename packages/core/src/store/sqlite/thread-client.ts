// The main thread's side of a database thread: calls go out in groups, results come back in groups.
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { StoreRefusedError, StoreUnavailableError } from "../../errors/index.ts";
import type { OperationName, Operations } from "./operations/index.ts";
import {
  type Call,
  pack,
  type ResultsMessage,
  type ThreadData,
  type ThreadStart,
  unpackFromThread,
} from "./thread-messages.ts";

interface Waiting {
  readonly operation: OperationName;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

// Sources run as they are in development, compiled files when published: the thread's file has the same ending as ours.
const threadFile = new URL(import.meta.url.endsWith(".ts") ? "./thread.ts" : "./thread.js", import.meta.url);

// Two groups under way keep the thread busy: it finds the next one as soon as it has flushed.
const groupsUnderWay = 2;

// A group of this size goes out at once, so that the thread works on it while we prepare the next: with fifty executions
// in step, waiting for the last of them left the thread idle for a quarter of the time.
const enoughToSend = 16;

export class ThreadClient {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  #outbox: Call[] = [];
  #underWay = 0;
  #scheduled = false;
  #lastId = 0;
  #closing = false;
  #broken: Error | undefined;
  readonly #exited = Promise.withResolvers<void>();

  private constructor(
    worker: Worker,
    port: MessagePort,
    opened: () => void,
    failed: (reason: Error) => void,
  ) {
    this.#worker = worker;
    this.#port = port;
    const receive = (text: string) => {
      const message = unpackFromThread(text);
      if ("results" in message) this.#receive(message);
      else if ("opened" in message) opened();
      else failed(new Error(message.failed));
    };
    port.on("message", receive);
    // The worker alone decides how long the process stays: the port goes with it.
    port.unref();
    worker.on("error", (error: Error) => {
      failed(error);
      this.#break(error);
    });
    worker.on("exit", () => {
      // The end of a thread may overtake its last messages, which come by another way.
      for (let last = receiveMessageOnPort(port); last !== undefined; last = receiveMessageOnPort(port)) {
        receive(last.message);
      }
      port.close();
      this.#break(new Error("the database thread has ended"));
      this.#exited.resolve();
    });
  }

  /** Starts a thread and waits until it has opened the database; rejects with the reason when it cannot. */
  static async open(start: ThreadStart): Promise<ThreadClient> {
    // No flags: a thread would inherit those of its process, and some of them (--input-type) would stop it.
    const name = `andante-sqlite-${start.role}`;
    // A channel of our own: the worker's built-in one also carries messages of Node's watch mode and of profilers.
    const { port1, port2 } = new MessageChannel();
    const workerData: ThreadData = { ...start, port: port2 };
    const worker = new Worker(threadFile, { workerData, transferList: [port2], name, execArgv: [] });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const client = new ThreadClient(worker, port1, resolve, reject);
    await promise;
    // From here on the thread keeps the process alive only while a caller waits for it.
    worker.unref();
    return client;
  }

  call<Name extends OperationName>(
    operation: Name,
    argument: Parameters<Operations[Name]>[0],
  ): Promise<ReturnType<Operations[Name]>>;
  call(operation: OperationName, argument: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) return reject(new StoreUnavailableError({ cause: this.#broken }));
      const id = ++this.#lastId;
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(id, { operation, resolve, reject });
      this.#outbox.push({ id, operation, argument });
      if (this.#outbox.length >= enoughToSend && this.#underWay < groupsUnderWay) this.#send();
      else this.#schedule();
    });
  }

  /** Waits for the calls under way, then closes the database. */
  close(): Promise<void> {
    if (this.#broken === undefined) {
      this.#closing = true;
      this.#send();
      this.#worker.ref();
      this.#port.postMessage(pack("close"));
    }
    return this.#exited.promise;
  }

  #schedule(): void {
    if (this.#scheduled || this.#underWay >= groupsUnderWay) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    if (this.#outbox.length === 0) return;
    const group = this.#outbox;
    this.#outbox = [];
    this.#underWay++;
    this.#port.postMessage(pack(group));
  }

  #receive({ groupsReceived, results }: ResultsMessage): void {
    this.#underWay -= groupsReceived;
    for (const result of results) {
      const waiting = this.#waiting.get(result.id);
      if (waiting === undefined) continue;
      this.#waiting.delete(result.id);
      if ("failure" in result) waiting.reject(toError(waiting.operation, result.failure));
      else waiting.resolve(result.value);
    }
    // Whoever closes the store waits for the thread itself.
    if (this.#waiting.size === 0 && !this.#closing) this.#worker.unref();
    if (this.#outbox.length > 0) this.#schedule();
  }

  #break(error: Error): void {
    this.#broken ??= error;
    for (const waiting of this.#waiting.values()) waiting.reject(new StoreUnavailableError({ cause: error }));
    this.#waiting.clear();
  }
}

function toError(operation: string, failure: { kind: "refused" | "unavailable"; message: string }): Error {
  const cause = new Error(failure.message);
  return failure.kind === "refused"
    ? new StoreRefusedError({ operation, cause })
    : new StoreUnavailableError({ cause });
}
