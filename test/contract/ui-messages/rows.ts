// The output of models and tools: one entry for each row of the table in docs/ui-messages.md.
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Fields } from "../../support/responses.ts";

export type ModelPart = LanguageModelV4StreamPart;

export interface Row {
  /** The parts that the model emits in each of its calls; the last one is followed by nothing. */
  readonly calls: readonly (readonly ModelPart[])[];
  /** The parts of the kept message; empty when nothing is kept. */
  readonly kept: readonly Fields[];
  /** The chunks that `/chat` sends beside the types in the table. */
  readonly sent?: readonly Fields[];
  /** The metadata of the kept message. */
  readonly metadata?: Fields;
  /** The reply ends so. Default: complete. */
  readonly ends?: "stopped" | "failed";
  /** The decision about the tool that waits. */
  readonly approved?: boolean;
}

const providerMetadata = { maker: { id: "m-1" } };
const png = "iVBORw0KGgo=";

const text = (said: string): ModelPart[] => [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: said.slice(0, 2) },
  { type: "text-delta", id: "t", delta: said.slice(2) },
  { type: "text-end", id: "t" },
];

const done: ModelPart[] = text("done");

const toolCall = (toolName: string, input: object, more: object = {}): ModelPart[] => [
  { type: "tool-input-start", id: "call-1", toolName, ...more },
  { type: "tool-input-delta", id: "call-1", delta: JSON.stringify(input) },
  { type: "tool-input-end", id: "call-1" },
  { type: "tool-call", toolCallId: "call-1", toolName, input: JSON.stringify(input), ...more },
];

const look = { type: "tool-look", toolCallId: "call-1" };

/** By the first cell of the row. */
export const rows: Readonly<Record<string, Row>> = {
  text: { calls: [text("Hello")], kept: [{ type: "text", text: "Hello", state: "done" }] },
  "text with metadata of the provider": {
    calls: [
      [
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "Hello" },
        { type: "text-end", id: "t", providerMetadata },
      ],
    ],
    kept: [{ type: "text", text: "Hello", providerMetadata }],
  },
  reasoning: {
    calls: [
      [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "Let me " },
        { type: "reasoning-delta", id: "r", delta: "think" },
        { type: "reasoning-end", id: "r", providerMetadata },
        ...done,
      ],
    ],
    kept: [{ type: "reasoning", text: "Let me think", state: "done", providerMetadata }],
  },
  "a file that the model reasons with": {
    calls: [
      [
        {
          type: "reasoning-file",
          mediaType: "image/png",
          data: { type: "data", data: png },
          providerMetadata,
        },
        ...done,
      ],
    ],
    kept: [{ type: "reasoning-file", mediaType: "image/png", url: `data:image/png;base64,${png}` }],
  },
  "a file": {
    calls: [
      [
        { type: "file", mediaType: "image/png", data: { type: "data", data: png }, providerMetadata },
        ...done,
      ],
    ],
    kept: [{ type: "file", mediaType: "image/png", url: `data:image/png;base64,${png}`, providerMetadata }],
  },
  "a source on the web": {
    calls: [
      [{ type: "source", sourceType: "url", id: "s-1", url: "https://a.example/", title: "A" }, ...done],
    ],
    kept: [{ type: "source-url", sourceId: "s-1", url: "https://a.example/", title: "A" }],
  },
  "a source that is a document": {
    calls: [
      [
        {
          type: "source",
          sourceType: "document",
          id: "s-2",
          mediaType: "application/pdf",
          title: "B",
          filename: "b.pdf",
        },
        ...done,
      ],
    ],
    kept: [{ type: "source-document", sourceId: "s-2", title: "B", filename: "b.pdf" }],
  },
  "a part of the provider's own": {
    calls: [[{ type: "custom", kind: "maker.note", providerMetadata }, ...done]],
    kept: [{ type: "custom", kind: "maker.note", providerMetadata }],
  },
  "a tool's input while it streams": {
    calls: [
      [
        { type: "tool-input-start", id: "call-1", toolName: "look" },
        { type: "tool-input-delta", id: "call-1", delta: '{"at":"the' },
      ],
    ],
    ends: "stopped",
    kept: [{ ...look, state: "input-streaming", input: { at: "the" } }],
  },
  "a tool that the client runs": {
    calls: [toolCall("locate", {})],
    kept: [{ type: "tool-locate", toolCallId: "call-1", state: "input-available", input: {} }],
  },
  "a tool call that is not valid": {
    calls: [toolCall("look", { at: 7 }), done],
    kept: [{ ...look, state: "output-error", errorText: "The call is not valid", input: { at: 7 } }],
  },
  "a tool's output": {
    calls: [toolCall("look", { at: "sea" }, { providerMetadata }), done],
    kept: [
      { ...look, state: "output-available", output: { seen: "sea" }, callProviderMetadata: providerMetadata },
    ],
  },
  "a tool's preliminary output": {
    calls: [toolCall("search", { at: "sea" }), done],
    sent: [
      { type: "tool-output-available", preliminary: true, output: { found: ["a"] } },
      { type: "tool-output-available", preliminary: true, output: { found: ["a", "b"] } },
      { type: "tool-output-available", toolCallId: "call-1", output: { found: ["a", "b"] } },
    ],
    kept: [
      { type: "tool-search", toolCallId: "call-1", state: "output-available", output: { found: ["a", "b"] } },
    ],
  },
  "a tool's error": {
    calls: [toolCall("look", { at: "nowhere" }), done],
    kept: [{ ...look, state: "output-error", errorText: "There is nothing to see" }],
  },
  "a tool that waits for approval": {
    calls: [toolCall("remove", { file: "a" })],
    kept: [
      {
        type: "tool-remove",
        toolCallId: "call-1",
        state: "approval-requested",
        approval: { id: "approval" },
      },
    ],
  },
  "a tool that was approved": {
    calls: [toolCall("remove", { file: "a" }), done],
    approved: true,
    kept: [{ type: "tool-remove", state: "output-available", approval: { id: "approval", approved: true } }],
  },
  "a tool that was denied": {
    calls: [toolCall("remove", { file: "a" }), done],
    approved: false,
    kept: [{ type: "tool-remove", state: "output-denied", approval: { id: "approval", approved: false } }],
  },
  "a dynamic tool": {
    calls: [toolCall("anything", { at: "sea" }, { dynamic: true }), done],
    kept: [
      { type: "dynamic-tool", toolName: "anything", state: "output-available", output: { did: "anything" } },
    ],
  },
  "a tool that the provider runs": {
    calls: [
      [
        ...toolCall("webSearch", { query: "sea" }, { providerExecuted: true, dynamic: true }),
        {
          type: "tool-result",
          toolCallId: "call-1",
          toolName: "webSearch",
          result: { hits: 2 },
          dynamic: true,
          providerMetadata,
        },
        ...done,
      ],
    ],
    kept: [
      {
        type: "dynamic-tool",
        toolName: "webSearch",
        state: "output-available",
        providerExecuted: true,
        output: { hits: 2 },
        resultProviderMetadata: providerMetadata,
      },
    ],
  },
  "an error of a tool that the provider runs": {
    calls: [
      [
        ...toolCall("webSearch", { query: "sea" }, { providerExecuted: true, dynamic: true }),
        {
          type: "tool-result",
          toolCallId: "call-1",
          toolName: "webSearch",
          result: "max_uses_exceeded",
          isError: true,
          dynamic: true,
        },
        ...done,
      ],
    ],
    kept: [{ type: "dynamic-tool", toolName: "webSearch", state: "output-error", providerExecuted: true }],
  },
  "data of a tool's own": {
    calls: [toolCall("report", {}), done],
    kept: [{ type: "data-progress", id: "p", data: { percent: 100 } }],
    sent: [
      { type: "data-progress", id: "p", data: { percent: 50 } },
      { type: "data-progress", id: "p", data: { percent: 100 } },
    ],
  },
  "data that is only sent": {
    calls: [toolCall("report", {}), done],
    kept: [],
    sent: [{ type: "data-note", data: "working", transient: true }],
  },
  "metadata of the message": {
    calls: [text("Hello")],
    kept: [],
    sent: [
      { type: "start", messageMetadata: { agent: "table" } },
      { type: "message-metadata", messageMetadata: { steps: 1 } },
      { type: "finish", messageMetadata: { tokens: 2 } },
    ],
    metadata: { agent: "table", steps: 1, tokens: 2 },
  },
  "several steps": {
    calls: [[...text("First"), ...toolCall("look", { at: "sea" })], done],
    kept: [
      { type: "step-start" },
      { type: "text", text: "First" },
      { type: "step-start" },
      { type: "text", text: "done" },
    ],
  },
  "a reply that is stopped": {
    calls: [
      [
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "Half" },
      ],
    ],
    ends: "stopped",
    kept: [{ type: "text", text: "Half" }],
  },
  "a reply that fails": {
    calls: [
      [
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "Half" },
        { type: "error", error: new Error("boom") },
      ],
    ],
    ends: "failed",
    kept: [{ type: "text", text: "Half" }],
  },
};
