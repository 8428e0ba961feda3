// Messages that reach a reply while it is made. The model reads them with its next call, and they are recorded before it: the
// loop meets them at the same place when it is walked again.
import { experimental_createSteering, type UIMessage, type UserModelMessage } from "ai";

export interface SteeringSource {
  /** The messages that wait to reach the reply. */
  waiting(): Promise<readonly UIMessage[]>;
  /** A message in the form of models; undefined where nothing of it is for a model. */
  convert(message: UIMessage): Promise<UserModelMessage | undefined>;
  /** The model reads the message. */
  delivered(messageId: string): Promise<void>;
}

/** The loop of the reply. */
export interface SteeredLoop {
  /** The messages that the next call reads with it: those that are recorded, else those that wait, once they are recorded. */
  steered(waiting: () => Promise<readonly UIMessage[]>): Promise<readonly UIMessage[]>;
}

export class Steering {
  /** The AI SDK's own side of it, for one generation. */
  readonly sdk = experimental_createSteering();
  readonly #loop: SteeredLoop;
  readonly #source: SteeringSource;
  #delivering: Promise<void> = Promise.resolve();

  constructor(loop: SteeredLoop, source: SteeringSource) {
    this.#loop = loop;
    this.#source = source;
  }

  /**
   * Called between two calls of the model. The AI SDK delivers the messages with the next call, also where the reply was to
   * end with the last one. It delivers none to a reply that ends at a stop condition, or waits for results of tools.
   */
  async offer(): Promise<void> {
    // The end of the reply reports a failure.
    await this.#delivering.catch(() => undefined);
    for (const message of await this.#loop.steered(() => this.#source.waiting())) {
      const converted = await this.#source.convert(message);
      if (converted === undefined) continue;
      void this.sdk.steer(converted, { id: message.id }).then(({ type }) => {
        if (type === "delivered") this.#deliver(message.id);
      });
    }
  }

  /** Resolves when the messages that the model reads wait no more. */
  get settled(): Promise<void> {
    return this.#delivering;
  }

  #deliver(messageId: string): void {
    this.#delivering = Promise.all([this.#delivering, this.#source.delivered(messageId)]).then(
      () => undefined,
    );
    // The next call and the end of the reply wait for it.
    this.#delivering.catch(() => undefined);
  }
}
