// Data of a host's own in a reply: tools and hooks write it for the readers of the reply.
import type { UIDataTypes, UIMessageChunk } from "ai";
import { toJson } from "../../values/json.ts";

/** A part of the AI SDK's UI messages whose type begins with `data-`. */
export interface DataPart {
  readonly type: `data-${string}`;
  /** A later part of the same type and id takes the place of an earlier one. Default: each is a part of its own. */
  readonly id?: string;
  /** JSON. */
  readonly data: unknown;
  /** It is only sent, and not part of the message. Default: false. */
  readonly transient?: boolean;
}

export type DataChunk = Extract<UIMessageChunk<unknown, UIDataTypes>, { type: `data-${string}` }>;

/** Passes chunks on to the reader; those written before there is one wait for it. */
export class DataWriter {
  #read: ((chunk: DataChunk) => void) | undefined;
  #waiting: DataChunk[] = [];

  write(chunk: DataChunk): void {
    if (this.#read === undefined) this.#waiting.push(chunk);
    else this.#read(chunk);
  }

  readBy(read: (chunk: DataChunk) => void): void {
    this.#read = read;
    for (const chunk of this.#waiting) read(chunk);
    this.#waiting = [];
  }
}

/** The part as it is sent; throws for an invalid one. */
export function dataChunk({ type, id, data, transient }: DataPart): DataChunk {
  if (typeof type !== "string" || !/^data-./.test(type)) {
    throw new TypeError(`the type of a data part must begin with "data-", not be ${JSON.stringify(type)}`);
  }
  if (id !== undefined && typeof id !== "string")
    throw new TypeError("the id of a data part must be a string");
  const text = toJson(data, `Data of ${type}`);
  return {
    type,
    ...(id !== undefined && { id }),
    data: text === undefined ? null : JSON.parse(text),
    ...(transient === true && { transient }),
  };
}
