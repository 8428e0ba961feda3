// The parts that a model streams, on their way to the AI SDK. Whoever has something to do with each does it here: a stream
// of its own around this one costs every part 1 µs.
import type { DeltaShortcut } from "./delta-shortcut.ts";
import type { ModelPart } from "./model-parts.ts";

/** Passes the part on, or others before it, or keeps it for later. Never throws or rejects. */
export type PartHandler = (part: ModelPart, passOn: (part: ModelPart) => void) => void | Promise<void>;

type Controller = ReadableStreamDefaultController<ModelPart>;

/** Who watches over the stream. */
export interface PartWatch {
  /** Sees each part first. What it throws is told to `failed`. */
  seen(part: ModelPart): void;
  /** The model's stream is over. What it throws is told to `failed`. */
  over(): void;
  /** The model's stream has broken: `failWith` is to be called. */
  failed(error: unknown): void;
  /** Nobody reads it any more. */
  cancelled(reason: unknown): void;
}

export class PartStream extends ReadableStream<ModelPart> {
  readonly #passage: Passage;

  /** `shortcut` is the reply's, which this call has begun. Default: every part goes through the AI SDK. */
  constructor(source: ReadableStream<ModelPart>, watch: PartWatch, shortcut?: DeltaShortcut) {
    const passage = new Passage(source.getReader(), watch, shortcut);
    super(passage, { highWaterMark: 0 });
    this.#passage = passage;
  }

  /** From now on each part is changed by the function, before the handler. To be called once, before anything is read. */
  changeWith(change: (part: ModelPart) => ModelPart): void {
    this.#passage.change = change;
  }

  /** From now on each part goes through the handler. To be called once, before anything is read. */
  handleWith(handler: PartHandler): void {
    this.#passage.handler = handler;
  }

  /** An error is the last part, whatever the model does; what the handler is busy with comes before it. */
  failWith(error: unknown): void {
    this.#passage.failWith(error);
  }
}

class Passage {
  readonly #reader: ReadableStreamDefaultReader<ModelPart>;
  readonly #watch: PartWatch;
  readonly #shortcut: DeltaShortcut | undefined;
  #controller: Controller | undefined;
  #isOver = false;
  #passed = 0;
  #handling: Promise<void> | undefined;
  handler: PartHandler | undefined;
  change: ((part: ModelPart) => ModelPart) | undefined;

  constructor(
    reader: ReadableStreamDefaultReader<ModelPart>,
    watch: PartWatch,
    shortcut: DeltaShortcut | undefined,
  ) {
    this.#reader = reader;
    this.#watch = watch;
    this.#shortcut = shortcut;
  }

  start(controller: Controller): void {
    this.#controller = controller;
  }

  async pull(): Promise<void> {
    const before = this.#passed;
    // Of a part that the handler keeps nobody hears yet, and of one that goes ahead not the AI SDK.
    while (!this.#isOver && this.#passed === before) {
      if (this.#shortcut?.isFull) {
        await this.#shortcut.changed();
        continue;
      }
      let part: ModelPart;
      try {
        const { done, value } = await this.#reader.read();
        if (this.#isOver) return;
        if (done) {
          this.#watch.over();
          return this.#end();
        }
        this.#watch.seen(value);
        part = this.change === undefined ? value : this.change(value);
      } catch (error) {
        return this.#watch.failed(error);
      }
      if (this.#shortcut?.isBehind(part)) {
        await this.#shortcut.caughtUp(part);
        if (this.#isOver) return;
      }
      if (this.handler === undefined) {
        this.#passOn(part);
        continue;
      }
      const handling = this.handler(part, this.#passOn);
      if (handling === undefined) continue;
      this.#handling = handling;
      await handling;
      this.#handling = undefined;
    }
  }

  async cancel(reason: unknown): Promise<void> {
    this.#isOver = true;
    this.#shortcut?.end();
    this.#watch.cancelled(reason);
    await this.#reader.cancel(reason);
  }

  failWith(error: unknown): void {
    if (this.#handling !== undefined) return void this.#handling.then(() => this.failWith(error));
    if (this.#isOver) return;
    this.#reader.cancel(error).catch(() => undefined);
    this.#passOn({ type: "error", error });
    this.#end();
  }

  readonly #passOn = (part: ModelPart): void => {
    if (this.#isOver) return;
    if (this.#shortcut === undefined) this.#enqueue(part);
    else this.#shortcut.pass(part, this.#enqueue);
  };

  readonly #enqueue = (part: ModelPart): void => {
    this.#passed++;
    this.#controller?.enqueue(part);
  };

  #end(): void {
    this.#isOver = true;
    // A model may say something after the part that tells of its end.
    this.#shortcut?.catchUp(this.#enqueue);
    this.#shortcut?.end();
    this.#controller?.close();
  }
}
