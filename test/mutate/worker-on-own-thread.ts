// `node:worker_threads` with a Worker that runs on the thread which made it, so that a fault switched on there is seen.
// Tests that kill database threads get real ones.
import { EventEmitter } from "node:events";
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker as Thread,
} from "node:worker_threads";
import { expect } from "vitest";
import type { ThreadData } from "../../packages/core/src/store/sqlite/thread-messages.ts";

export { MessageChannel, type MessagePort, receiveMessageOnPort };

const killsThreads = expect.getState().testPath?.endsWith("/dead-threads.test.ts");

class OwnThread extends EventEmitter {
  readonly #port: MessagePort;

  constructor(_file: URL, { workerData }: { workerData: ThreadData }) {
    super();
    this.#port = workerData.port;
    // The other end closes when the thread has closed the database, which ends a real thread.
    this.#port.once("close", () => this.emit("exit", 0));
    // A real thread starts later, too; the import is here because the thread's modules are loaded by its start.
    import("../../packages/core/src/store/sqlite/thread.ts").then(
      ({ serveCallsOf }) => serveCallsOf(workerData),
      (error: unknown) => this.emit("error", error),
    );
  }

  ref(): void {
    this.#port.ref();
  }

  unref(): void {
    this.#port.unref();
  }

  async terminate(): Promise<number> {
    this.#port.close();
    return 1;
  }
}

// Modules are loaded anew for each test file.
export const Worker = killsThreads ? Thread : OwnThread;
