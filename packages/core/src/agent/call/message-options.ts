// How a host takes part in chat messages: their metadata, and the part of them that a model sees.
import type { FilePart, TextPart, UIMessage, UIMessageStreamOptions } from "ai";
import type { DataPart } from "./data-writer.ts";
import type { OperationContext } from "./operation.ts";

/** Metadata that a part of the stream gives to the message; undefined for none. */
export type MessageMetadata = NonNullable<UIMessageStreamOptions<UIMessage>["messageMetadata"]>;

/** A data part as the model sees it; undefined leaves it out. */
export type ConvertDataPart = (part: DataPart) => TextPart | FilePart | undefined;

/** The part of a conversation that a model sees. */
export interface MemoryOptions {
  /** How many messages, at most. Default: 50. */
  readonly window?: number;
  /** About how many tokens, at most; four characters count as one. The last message is always seen. Default: no limit. */
  readonly tokens?: number;
  /** Changes these messages, such as to a summary and the newest messages. It is not kept. Default: nothing. */
  prepare?(
    messages: readonly UIMessage[],
    context: OperationContext,
  ): readonly UIMessage[] | Promise<readonly UIMessage[]>;
}

/** Makes the title of a conversation of its first message and the reply; undefined keeps the one that it has. */
export type MakeTitle = (
  messages: readonly UIMessage[],
  context: OperationContext,
) => string | undefined | Promise<string | undefined>;
