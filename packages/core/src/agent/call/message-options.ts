// How a host takes part in chat messages: their metadata, and the part of them that a model sees.
import type { FilePart, LanguageModel, TextPart, UIMessage, UIMessageStreamOptions } from "ai";
import type { Schema } from "../../values/schema.ts";
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
  /** Replaces older messages by a summary, for the model alone. Default: they leave the window. */
  readonly compact?: CompactOptions;
  /** Facts that the model keeps with a tool `remember` and finds in its instructions. Default: none. */
  readonly facts?: FactsOptions;
  /**
   * Finds earlier messages, such as by a search of the host's own: the model sees them before the conversation. They are
   * not kept. Default: none.
   */
  recall?(
    query: RecallQuery,
    context: OperationContext,
  ): readonly UIMessage[] | Promise<readonly UIMessage[]>;
  /** Changes these messages, such as to a summary and the newest messages. It is not kept. Default: nothing. */
  prepare?(
    messages: readonly UIMessage[],
    context: OperationContext,
  ): readonly UIMessage[] | Promise<readonly UIMessage[]>;
}

/** A summary of the older messages is made once, beside the reply, when there are too many; it is kept as a message. */
export interface CompactOptions {
  /** Above about so many tokens of messages; four characters count as one. At most twice as many are summarised at once. */
  readonly above: number;
  /** How many of the newest messages stay whole, at least. Default: 8. */
  readonly keep?: number;
  /** The model that writes the summary. Default: the agent's. */
  readonly with?: LanguageModel;
}

/** Facts about a user, or in a conversation. Each agent keeps its own. */
export interface FactsOptions {
  /** An object with optional fields: facts are kept only while they fit it as a whole. */
  readonly schema: Schema;
  /** Whose facts they are: those of the caller's `userId`, in all conversations, or of one conversation. */
  readonly scope: "user" | "conversation";
}

/** The question of a reply. */
export interface RecallQuery {
  /** The text of the last message of the user. */
  readonly text: string;
  /** The messages that the model sees, the last one included. */
  readonly messages: readonly UIMessage[];
}

/** The messages that a summary stands for. */
export interface SummaryRange {
  /** The id of the first of them. */
  readonly from: string;
  /** The id of the last. */
  readonly upTo: string;
  /** How many they are. */
  readonly messages: number;
}

/** Makes the title of a conversation of its first message and the reply; undefined keeps the one that it has. */
export type MakeTitle = (
  messages: readonly UIMessage[],
  context: OperationContext,
) => string | undefined | Promise<string | undefined>;
