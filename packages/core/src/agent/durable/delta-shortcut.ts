// The short way of a reply's text: from the model's stream to whoever reads the reply, past the AI SDK.
//
// The AI SDK sends every part through sixteen streams: two thirds of what a delta costs that comes alone. Its loop needs the
// text when something else follows. So the first delta of a text goes through the AI SDK; the further ones go ahead to the
// reader once that one has come out, and the AI SDK gets them as one before the next part of another kind. When it hands
// that one on, the reader knows it already. Nothing overtakes anything: no text is inside the AI SDK while text goes ahead.
import type { TextStreamPart, ToolSet } from "ai";
import type { ModelPart } from "./model-parts.ts";
import { type ModelPace, OutputPace } from "./output-pace.ts";

type ModelDelta = Extract<ModelPart, { type: "text-delta" | "reasoning-delta" }>;

/** A delta as the AI SDK hands it on. */
export type ReplyDelta = Extract<TextStreamPart<ToolSet>, { type: "text-delta" | "reasoning-delta" }>;

/** Whoever reads the reply. */
export interface DeltaReader {
  /** A delta that went ahead. */
  deliver(delta: ReplyDelta): void;
  /** True while something was delivered that nobody has asked for. */
  readonly hasUntaken: boolean;
}

/** Of one reply. One call of the model uses it at a time. */
export class DeltaShortcut {
  #reader: DeltaReader | undefined;
  #result: object | undefined;
  #isUsed = false;
  #isStopped = false;
  /** The last delta that the AI SDK was given, when nothing of another kind came after it. */
  #last: ModelDelta | undefined;
  /** The last delta that came out of the AI SDK. */
  #seen: ReplyDelta | undefined;
  /** Characters that the AI SDK was given, that came out of it, and that the reader knows of those inside it. */
  #given = 0;
  #returned = 0;
  #told = 0;
  /** What went ahead and the AI SDK was not given yet. */
  #ahead = "";
  #pace = new OutputPace();
  #wake: (() => void) | undefined;

  /** A call of the model begins. False inside another one: the host has wrapped our model, and may change its text. */
  begin(): boolean {
    this.#pace = new OutputPace();
    if (this.#isUsed) this.stop();
    if (this.#isStopped) return false;
    this.#isUsed = true;
    return true;
  }

  /** Nothing of this reply goes ahead any more. For text that comes out of the AI SDK and was not counted on its way in. */
  stop(): void {
    this.#isStopped = true;
    this.wake();
  }

  /** The call is over. */
  end(): void {
    this.#isUsed = false;
    this.#last = undefined;
    this.#ahead = "";
    this.wake();
  }

  /** True while the reader has not taken what went ahead: nothing more is to be read from the model. */
  get isFull(): boolean {
    return this.#reader?.hasUntaken === true;
  }

  /** True while the text before this part has not come out of the AI SDK. */
  isBehind(part: ModelPart): boolean {
    return this.#mayContinue(part) && this.#returned < this.#given;
  }

  /** Resolves when it has. That takes no turn of the event loop; after one, nobody waits any longer. */
  async caughtUp(part: ModelPart): Promise<void> {
    let isLate = false;
    const late = setImmediate(() => {
      isLate = true;
      this.wake();
    });
    while (!isLate && this.isBehind(part)) await this.changed();
    clearImmediate(late);
  }

  /** Resolves when `isFull` may have changed. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Sends a part of the model to the reader, or on its way through the AI SDK. */
  pass(part: ModelPart, toSdk: (part: ModelPart) => void): void {
    this.#pace.note(part);
    if (isDelta(part) && this.#isOpenTo(part)) {
      this.#ahead += part.delta;
      return this.#reader?.deliver({ type: part.type, id: this.#seen?.id ?? part.id, text: part.delta });
    }
    this.catchUp(toSdk);
    // Whether an empty one has come out cannot be counted: the AI SDK drops some.
    this.#last = isDelta(part) && part.delta !== "" ? part : undefined;
    this.#given += this.#last?.delta.length ?? 0;
    toSdk(part);
  }

  /** The AI SDK is given what went ahead. */
  catchUp(toSdk: (part: ModelPart) => void): void {
    if (this.#last === undefined || this.#ahead === "") return;
    this.#given += this.#ahead.length;
    this.#told += this.#ahead.length;
    toSdk({ ...this.#last, delta: this.#ahead });
    this.#ahead = "";
  }

  /** What the AI SDK makes of a call, which it has seen in few large pieces, as it was. */
  correct(performance: ModelPace): void {
    this.#pace.correct(performance);
  }

  /** The result of the AI SDK that this leads past. */
  leadsPast(result: object): void {
    this.#result = result;
  }

  /** From now on deltas may go ahead. Not when somebody has put another result in the place of the AI SDK's. */
  open(result: object, reader: DeltaReader): void {
    if (result === this.#result) this.#reader = reader;
  }

  /** Nobody reads any more. */
  close(): void {
    this.#reader = undefined;
    this.wake();
  }

  /** A delta came out of the AI SDK. True when the reader knows it. */
  isTold(delta: ReplyDelta): boolean {
    this.#seen = delta;
    this.#returned += delta.text.length;
    this.wake();
    if (this.#told === 0) return false;
    this.#told -= delta.text.length;
    return true;
  }

  /** The reader has taken what was delivered. */
  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  #isOpenTo(part: ModelDelta): boolean {
    if (!this.#mayContinue(part) || this.#returned !== this.#given) return false;
    // The AI SDK says of further deltas what the provider said of one.
    return this.#seen?.type === part.type && this.#seen.providerMetadata === undefined;
  }

  /** Whether it is more of the text that the AI SDK has the beginning of, and nothing else. */
  #mayContinue(part: ModelPart): boolean {
    if (this.#reader === undefined || this.#isStopped) return false;
    if (!isDelta(part) || part.providerMetadata !== undefined || part.delta === "") return false;
    return part.type === this.#last?.type && part.id === this.#last.id;
  }
}

function isDelta(part: ModelPart): part is ModelDelta {
  return part.type === "text-delta" || part.type === "reasoning-delta";
}
