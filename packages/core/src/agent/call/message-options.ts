// How a host takes part in chat messages: their metadata, and what a model sees of their data.
import type { FilePart, TextPart, UIMessage, UIMessageStreamOptions } from "ai";
import type { DataPart } from "./data-writer.ts";

/** Metadata that a part of the stream gives to the message; undefined for none. */
export type MessageMetadata = NonNullable<UIMessageStreamOptions<UIMessage>["messageMetadata"]>;

/** A data part as the model sees it; undefined leaves it out. */
export type ConvertDataPart = (part: DataPart) => TextPart | FilePart | undefined;
