// The wire format of Anthropic's messages.
import type { Said, ToolCall, Wire } from "./provider-server.ts";

const head = { id: "msg_1", type: "message", role: "assistant", model: "loopback-1" };
const reason = ({ calls }: Said) => (calls === undefined ? "end_turn" : "tool_use");
const event = ({ type, ...rest }: { type: string; [field: string]: unknown }) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;

const blockStart = (index: number, content_block: object) =>
  event({ type: "content_block_start", index, content_block });
const blockDelta = (index: number, delta: object) => event({ type: "content_block_delta", index, delta });
const blockStop = (index: number) => event({ type: "content_block_stop", index });

/** The input of a call comes in two pieces, broken inside a word. */
function callEvents({ id, name, input }: ToolCall, index: number): string {
  const text = JSON.stringify(input);
  const half = Math.floor(text.length / 2);
  const pieces = [text.slice(0, half), text.slice(half)];
  return (
    blockStart(index, { type: "tool_use", id, name, input: {} }) +
    pieces.map((partial_json) => blockDelta(index, { type: "input_json_delta", partial_json })).join("") +
    blockStop(index)
  );
}

export const anthropicWire: Wire = {
  whole(said) {
    const text = said.text === undefined ? [] : [{ type: "text", text: said.text.join("") }];
    const calls = (said.calls ?? []).map((call) => ({ type: "tool_use", ...call }));
    return {
      ...head,
      content: [...text, ...calls],
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
    const { text = [], calls = [] } = said;
    const first = text.length > 0 ? 1 : 0;
    return (
      (text.length > 0 ? blockStop(0) : "") +
      calls.map((call, index) => callEvents(call, first + index)).join("") +
      event({ type: "message_delta", delta: { stop_reason: reason(said) }, usage: { output_tokens: 7 } }) +
      event({ type: "message_stop" })
    );
  },
  error: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
  errorEvent: (message) => event({ type: "error", error: { type: "overloaded_error", message } }),
};
