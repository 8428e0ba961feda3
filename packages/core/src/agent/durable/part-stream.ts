// The parts that a model streams, on their way to the AI SDK. Changes and handlers of parts are functions of this stream: a
// stream of its own for each would cost 1 µs for every part.
import type { ModelPart } from "./model-parts.ts";

/** Passes the part on, or others before it, or keeps it for later. Never throws or rejects. */
export type PartHandler = (part: ModelPart, passOn: (part: ModelPart) => void) => void | Promise<void>;

type Controller = ReadableStreamDefaultController<ModelPart>;

/** Observes the stream. */
export interface PartWatch {
  /** Sees each part first. An error that it throws goes to `failed`. */
  seen(part: ModelPart): void;
  /** The model's stream has ended. An error that it throws goes to `failed`. */
  over(): void;
  /** The model's stream has broken; calls `failWith`. */
  failed(error: unknown): void;
  /** The reader has cancelled the stream. */
  cancelled(reason: unknown): void;
}

export class PartStream extends ReadableStream<ModelPart> {
  readonly #passage: Passage;

  constructor(source: ReadableStream<ModelPart>, watch: PartWatch) {
    const passage = new Passage(source.getReader(), watch);
    super(passage, { highWaterMark: 0 });
    this.#passage = passage;
  }

  /** A stream that was made of another one's parts. */
  static passing(source: ReadableStream<ModelPart>): PartStream {
    const stream: PartStream = new PartStream(source, {
      seen: () => undefined,
      over: () => undefined,
      failed: (error) => stream.failWith(error),
      cancelled: () => undefined,
    });
    return stream;
  }

  /** Changes each part before the handler sees it. To be called once, before the first read. */
  changeWith(change: (part: ModelPart) => ModelPart): void {
    this.#passage.change = change;
  }

  /** Sends each part through the handler. To be called once, before the first read. */
  handleWith(handler: PartHandler): void {
    this.#passage.handler = handler;
  }

  /** Ends the stream with an error part, after the part that the handler works on. */
  failWith(error: unknown): void {
    this.#passage.failWith(error);
  }
}

class Passage {
  readonly #reader: ReadableStreamDefaultReader<ModelPart>;
  readonly #watch: PartWatch;
  #controller: Controller | undefined;
  #isOver = false;
  #passed = 0;
  #handling: Promise<void> | undefined;
  handler: PartHandler | undefined;
  change: ((part: ModelPart) => ModelPart) | undefined;

  constructor(reader: ReadableStreamDefaultReader<ModelPart>, watch: PartWatch) {
    this.#reader = reader;
    this.#watch = watch;
  }

  start(controller: Controller): void {
    this.#controller = controller;
  }

  async pull(): Promise<void> {
    const before = this.#passed;
    // The handler may keep a part: then the next one is read.
    while (!this.#isOver && this.#passed === before) {
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
    this.#passed++;
    this.#controller?.enqueue(part);
  };

  #end(): void {
    this.#isOver = true;
    this.#controller?.close();
  }
}
