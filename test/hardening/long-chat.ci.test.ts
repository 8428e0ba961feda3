// A chat of ten thousand messages with large files, set up as the documents say: only the last message is sent.
import { memoryStore } from "@andante/core";
import type { NewStoredEvent, Store } from "@andante/core/store";
import { DefaultChatTransport, type UIMessage } from "ai";
import { expect, test } from "vitest";
import { echoModel } from "../support/agents.ts";
import { dataOf, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const conversationId = "long";
const file = `data:application/pdf;base64,${"A".repeat(1_000_000)}`;

/** Every hundredth of the newest messages has a large file. */
function messageOf(index: number): UIMessage {
  const isUsers = index % 2 === 0;
  const text = { type: "text" as const, text: `message ${index}` };
  const large = { type: "file" as const, mediaType: "application/pdf", url: file };
  const parts = isUsers && index >= 9_000 && index % 100 === 0 ? [text, large] : [text];
  return { id: `m${index}`, role: isUsers ? "user" : "assistant", parts };
}

function event(type: string): NewStoredEvent {
  return { type, timestamp: 1_000, path: null, stepIndex: null, stepType: null, value: null, detail: null };
}

/** Keeps the message of this number and the reply after it. */
async function keepTurn(store: Store, index: number): Promise<void> {
  const { id: messageId, ...question } = messageOf(index);
  const { id: replyId, ...reply } = messageOf(index + 1);
  const where = { conversationId, userId: null };
  const at = 1_000 + index;
  const executionId = `turn ${index}`;
  const body = JSON.stringify({ id: messageId, ...question });
  await store.beginTurn({
    message: { kind: "post", messageId, body, title: null, again: false, at },
    turn: {
      ...{ executionId, agentId: "echo", ...where, input: "{}", context: "{}", startAt: at },
      ...{ claim: { owner: "test", token: executionId }, events: [event("workflow-start")] },
    },
  });
  const nothing = { events: [], open: [], closeBelow: [], timers: [], clear: [], idle: null, usage: null };
  const end = { status: "completed", result: "{}", error: null } as const;
  const following = [event("workflow-complete")];
  const message = { messageId: replyId, body: JSON.stringify({ id: replyId, ...reply }), partial: false };
  await store.endTurn({
    commit: {
      executionId,
      token: executionId,
      number: 1,
      stepIndex: 0,
      progress: true,
      ...nothing,
      following,
      end,
    },
    reply: { ...where, replyTo: messageId, message, at },
  });
}

test("it is loaded newest first, continued, and no request is large", async () => {
  const store = memoryStore();
  const server = await serveForTest({ store });
  // Without a lease the server would take over the turn that is being kept when it looks for abandoned work.
  await store.heartbeat({ owner: "test", lease: 120_000 });
  for (let index = 0; index < 10_000; index += 2) await keepTurn(store, index);
  const path = `/api/conversations/${conversationId}/messages?order=newest&limit=100`;
  const newest = listOf(dataOf(await server.get(path)), "messages");
  expect(newest.map(({ id }) => id).slice(0, 2)).toEqual(["m9999", "m9998"]);
  const sizes: number[] = [];
  const transport = new DefaultChatTransport({
    api: `${server.url}/agents/echo/chat`,
    prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
      body: { id, messages: messages.slice(-1), trigger, messageId },
    }),
    fetch: (input, init) => {
      sizes.push(String(init?.body).length);
      return fetch(input, init);
    },
  });
  const messages = Array.from({ length: 10_000 }, (_, index) => messageOf(index));
  const next: UIMessage = { id: "next", role: "user", parts: [{ type: "text", text: "and now?" }] };
  const sent = { trigger: "submit-message" as const, chatId: conversationId, messageId: undefined };
  const stream = await transport.sendMessages({
    ...sent,
    messages: [...messages, next],
    abortSignal: undefined,
  });
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  expect(types.at(-1)).toBe("finish");
  expect(sizes).toEqual([expect.any(Number)]);
  expect(sizes[0]).toBeLessThan(1_000);
  const last = listOf(dataOf(await server.get(path)), "messages").slice(0, 2);
  expect(last.map(({ role }) => role)).toEqual(["assistant", "user"]);
  // The model saw a window of it.
  expect(echoModel.asked.at(-1)?.prompt.length).toBeLessThanOrEqual(52);
});
