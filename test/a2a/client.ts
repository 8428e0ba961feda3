// A client of the protocol, written by hand: the official one hides the messages, and sends no wrong ones.
import { z } from "zod";

type Fields = Record<string, unknown>;

const reply = z.object({
  id: z.union([z.number(), z.string(), z.null()]),
  result: z.record(z.string(), z.any()).optional(),
  error: z
    .object({ code: z.number(), message: z.string(), data: z.array(z.unknown()).optional() })
    .optional(),
});

let last = 0;

export function a2aClient(url: string, agentId: string, headers: Record<string, string> = {}) {
  const address = `${url}/a2a/${agentId}`;
  const post = (body: string, more: Record<string, string> = {}) =>
    fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers, ...more },
      body,
    });
  const send = async (method: string, params: Fields = {}) => {
    last += 1;
    const response = await post(JSON.stringify({ jsonrpc: "2.0", id: last, method, params }));
    const { result = {}, error } = reply.parse(await response.json());
    return { status: response.status, result, error };
  };
  /** Sends a message with these parts. */
  const say = (parts: readonly Fields[], more: Fields = {}, configuration: Fields = {}) =>
    send("SendMessage", { message: messageOf(parts, more), configuration });
  const task = async (id: unknown) => (await send("GetTask", { id })).result;
  return { post, send, say, task };
}

export function messageOf(parts: readonly Fields[], more: Fields = {}): Fields {
  return { messageId: crypto.randomUUID(), role: "ROLE_USER", parts, ...more };
}
