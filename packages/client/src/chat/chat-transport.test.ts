// The transport passes the actions of `useChat` on to its stream.
import { expect, test } from "vitest";
import { createClient } from "../client.ts";
import { chatTransport } from "./chat-transport.ts";

test("a stream that is cancelled between events closes its connection", async () => {
  let ended = Promise.withResolvers<void>();
  const client = createClient({
    baseUrl: "http://silent.example",
    fetch: async (_, init) => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) =>
          controller.enqueue(new TextEncoder().encode('data: {"type":"start","messageId":"m"}\n\n')),
        cancel: () => ended.resolve(),
      });
      init?.signal?.addEventListener("abort", () => ended.resolve());
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const transport = chatTransport(client, "writer");
  for (const open of [
    () => transport.reconnectToStream({ chatId: "c" }),
    () =>
      transport.sendMessages({
        chatId: "c",
        messages: [],
        trigger: "submit-message",
        messageId: undefined,
        abortSignal: undefined,
      }),
  ]) {
    ended = Promise.withResolvers();
    const reader = (await open())?.getReader();
    expect((await reader?.read())?.value).toMatchObject({ type: "start" });
    const next = reader?.read();
    await reader?.cancel();
    expect(await next).toMatchObject({ done: true });
    await ended.promise;
  }
});
