// One life of a database thread: from its start to its end of any kind.
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { withTimeout } from "../../values/with-timeout.ts";
import {
  type ResultsMessage,
  type ThreadData,
  type ThreadStart,
  unpackFromThread,
} from "./thread-messages.ts";

// Sources run as they are in development, compiled files when published: the thread's file has the same ending as ours.
const isSource = import.meta.url.endsWith(".ts");
const threadFile = new URL(isSource ? "./thread.ts" : "./thread.js", import.meta.url);

/**
 * Mebibytes for objects that were made just now. By default a thread takes 128 of them on a large machine: one with 15 in
 * use kept 141, and another was at 334 before it collected its long texts.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 24 };

/** Milliseconds that a thread is given to end when it is terminated; one that hangs in the disk may not. */
const terminationTime = 1000;

export class ThreadLife {
  /** Resolves when the thread has ended, with the reason. It is the last thing that happens. */
  readonly ended: Promise<Error>;
  readonly #worker: Worker;
  readonly #port: MessagePort;

  private constructor(worker: Worker, port: MessagePort, ended: Promise<Error>) {
    this.#worker = worker;
    this.#port = port;
    this.ended = ended;
  }

  /** Starts a thread and waits until it has opened the database; rejects with the reason when it cannot. */
  static async start(
    start: ThreadStart,
    receive: (message: ResultsMessage) => void,
    ended: (reason: Error) => void,
  ): Promise<ThreadLife> {
    // No flags: a thread would inherit those of its process, and some of them (--input-type) would stop it.
    const name = `andante-sqlite-${start.role}`;
    // A channel of our own: the worker's built-in one also carries messages of Node's watch mode and of profilers.
    const { port1: port, port2 } = new MessageChannel();
    const underWay = new Int32Array(new SharedArrayBuffer(4));
    const workerData: ThreadData = { ...start, port: port2, underWay };
    const transferList = [port2];
    const worker = new Worker(threadFile, { workerData, transferList, name, execArgv: [], resourceLimits });
    const opened = Promise.withResolvers<void>();
    const end = Promise.withResolvers<Error>();
    const take = (text: string) => {
      const message = unpackFromThread(text);
      if ("results" in message) {
        Atomics.sub(underWay, 0, text.length);
        Atomics.notify(underWay, 0);
        receive(message);
      } else if ("opened" in message) opened.resolve();
      else opened.reject(new Error(message.failed));
    };
    port.on("message", take);
    // The worker alone decides how long the process stays: the port goes with it.
    port.unref();
    let cause: Error | undefined;
    worker.on("error", (error: Error) => {
      cause = error;
    });
    worker.on("exit", (code) => {
      // The end of a thread may overtake its last messages, which come by another way.
      for (let last = receiveMessageOnPort(port); last !== undefined; last = receiveMessageOnPort(port)) {
        take(last.message);
      }
      port.close();
      const reason = cause ?? new Error(`the database thread has ended (exit code ${code})`);
      opened.reject(reason);
      ended(reason);
      end.resolve(reason);
    });
    await opened.promise;
    return new ThreadLife(worker, port, end.promise);
  }

  post(message: string): void {
    this.#port.postMessage(message);
  }

  /** Whether the thread keeps the process alive. */
  keepAlive(alive: boolean): void {
    if (alive) this.#worker.ref();
    else this.#worker.unref();
  }

  /** Ends the thread in the middle of its work; returns also when that does not work. */
  async terminate(): Promise<void> {
    await withTimeout(this.#worker.terminate(), terminationTime);
  }
}
