// The wire format of OpenAI's chat completions, which many providers speak.
import type { Said, ToolCall, Wire } from "./provider-server.ts";

const head = { id: "chatcmpl-1", created: 1_750_000_000, model: "loopback-1" };
const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const finish = ({ calls }: Said) => (calls === undefined ? "stop" : "tool_calls");
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (delta: object, finish_reason: string | null = null) =>
  event({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });

/** The arguments of a call come in two pieces, broken inside a word. */
function callChunks({ id, name, input }: ToolCall, index: number): string {
  const text = JSON.stringify(input);
  const half = Math.floor(text.length / 2);
  const first = { index, id, type: "function", function: { name, arguments: text.slice(0, half) } };
  const second = { index, function: { arguments: text.slice(half) } };
  return chunk({ tool_calls: [first] }) + chunk({ tool_calls: [second] });
}

export const openaiWire: Wire = {
  whole(said) {
    const calls = said.calls?.map(({ id, name, input }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    }));
    const message = { role: "assistant", content: said.text?.join("") ?? null, tool_calls: calls };
    return {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: finish(said) }],
      usage,
    };
  },
  begin: () => chunk({ role: "assistant", content: "" }),
  piece: (content) => chunk({ content }),
  end: (said) => {
    const calls = (said.calls ?? []).map(callChunks).join("");
    return `${calls}${chunk({}, finish(said))}${event({ ...head, choices: [], usage })}data: [DONE]\n\n`;
  },
  error: (message) => ({ error: { message, type: "invalid_request_error", param: null, code: "bad" } }),
  errorEvent: (message) => event({ error: { message, type: "server_error", param: null, code: null } }),
};
