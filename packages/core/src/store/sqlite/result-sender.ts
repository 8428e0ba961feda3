// Sends the results of a database thread to the main thread, in messages of a bounded length.
import type { MessagePort } from "node:worker_threads";
import {
  type CallResult,
  maxLengthUnderWay,
  maxMessageLength,
  pack,
  packResults,
} from "./thread-messages.ts";

export class ResultSender {
  readonly #port: MessagePort;
  readonly #underWay: Int32Array<SharedArrayBuffer>;
  #groupsReceived = 0;

  constructor(port: MessagePort, underWay: Int32Array<SharedArrayBuffer>) {
    this.#port = port;
    this.#underWay = underWay;
  }

  /** A group of calls has arrived: the next message says so. */
  groupReceived(): void {
    this.#groupsReceived++;
  }

  /** Sends results in one message unless they are long; each is taken only when it can be sent. */
  send(results: Iterable<CallResult>): void {
    let texts: string[] = [];
    let length = 0;
    for (const result of results) {
      const text = packResult(result);
      texts.push(text);
      length += text.length;
      if (length < maxMessageLength) continue;
      this.#post(packResults(this.#groupsReceived, texts));
      texts = [];
      length = 0;
    }
    if (texts.length > 0 || this.#groupsReceived > 0) this.#post(packResults(this.#groupsReceived, texts));
  }

  #post(message: string): void {
    this.#groupsReceived = 0;
    this.#waitForRoom();
    Atomics.add(this.#underWay, 0, message.length);
    this.#port.postMessage(message);
  }

  /** A main thread that is busy does not find everything at once that it has asked for: it would not have the memory. */
  #waitForRoom(): void {
    for (;;) {
      const length = Atomics.load(this.#underWay, 0);
      if (length < maxLengthUnderWay) return;
      Atomics.wait(this.#underWay, 0, length);
    }
  }
}

function packResult(result: CallResult): string {
  try {
    return pack(result);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return pack({
      id: typeof result === "number" ? result : result.id,
      failure: { kind: "refused", message: `its result is too long: ${message}` },
    });
  }
}
