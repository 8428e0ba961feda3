// The wire format of Anthropic's messages.
import type { Said, Search, ToolCall, Wire } from "./provider-server.ts";

const head = { id: "msg_1", type: "message", role: "assistant", model: "loopback-1" };
const reason = ({ calls }: Said) => (calls === undefined ? "end_turn" : "tool_use");
const event = ({ type, ...rest }: { type: string; [field: string]: unknown }) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;

const blockStart = (index: number, content_block: object) =>
  event({ type: "content_block_start", index, content_block });
const blockDelta = (index: number, delta: object) => event({ type: "content_block_delta", index, delta });
const blockStop = (index: number) => event({ type: "content_block_stop", index });

interface Block {
  readonly type: string;
  readonly input?: unknown;
}

/** The content beside text, in order. */
function blocksOf({ searches = [], calls = [] }: Said): readonly Block[] {
  return [...searches.flatMap(searchBlocks), ...calls.map(callBlock)];
}

function callBlock(call: ToolCall): Block {
  return { type: "tool_use", ...call };
}

function searchBlocks({ id, query }: Search): readonly Block[] {
  const page = {
    url: `https://pages.example/${query}`,
    title: query,
    encrypted_content: "x",
    page_age: null,
  };
  const search = { type: "server_tool_use", id, name: "web_search", input: { query } };
  const content = [{ type: "web_search_result", ...page }];
  const result = { type: "web_search_tool_result", tool_use_id: id, content };
  return [search, result];
}

/** The input of a call comes in two pieces, broken inside a word. */
function blockEvents(block: Block, index: number): string {
  if (block.input === undefined) return blockStart(index, block) + blockStop(index);
  const text = JSON.stringify(block.input);
  const half = Math.floor(text.length / 2);
  const pieces = [text.slice(0, half), text.slice(half)];
  return (
    blockStart(index, { ...block, input: {} }) +
    pieces.map((partial_json) => blockDelta(index, { type: "input_json_delta", partial_json })).join("") +
    blockStop(index)
  );
}

export const anthropicWire: Wire = {
  whole(said) {
    const text = said.text === undefined ? [] : [{ type: "text", text: said.text.join("") }];
    return {
      ...head,
      content: [...text, ...blocksOf(said)],
      stop_reason: reason(said),
      stop_sequence: null,
      usage: { input_tokens: 11, output_tokens: 7 },
    };
  },
  begin: () =>
    event({
      type: "message_start",
      message: { ...head, content: [], stop_reason: null, usage: { input_tokens: 11, output_tokens: 1 } },
    }) + event({ type: "ping" }),
  piece: (text, index) =>
    (index === 0 ? blockStart(0, { type: "text", text: "" }) : "") +
    blockDelta(0, { type: "text_delta", text }),
  end: (said) => {
    const { text = [] } = said;
    const first = text.length > 0 ? 1 : 0;
    return (
      (text.length > 0 ? blockStop(0) : "") +
      blocksOf(said)
        .map((block, index) => blockEvents(block, first + index))
        .join("") +
      event({ type: "message_delta", delta: { stop_reason: reason(said) }, usage: { output_tokens: 7 } }) +
      event({ type: "message_stop" })
    );
  },
  error: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
  errorEvent: (message) => event({ type: "error", error: { type: "overloaded_error", message } }),
};
