// Every way in which a provider fails: reported with our message and in the protocol of the answer, and nothing else breaks.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { dataOf, errorOf, type Fields, listOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { type Behaviour, canary, refusedAddress, startProvider } from "./provider-server.ts";
import { agentsOn, providers } from "./providers.ts";

const failed = "The model provider failed to answer";
const busy = "The model provider is busy, try again later";
const late = "The model did not answer within 0.06 seconds";
const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
const message = { id: "u1", role: "user", parts: [{ type: "text", text: "Hi" }] };
const retryNow = { "retry-after": "0" };

/** The error that the caller must receive. */
interface Ending {
  readonly kind: string;
  readonly path: string;
  readonly body: Fields;
  /** Null for an answer in an envelope, else the last lines of the stream. */
  readonly told: null | ((error: string) => Fields[]);
}

const endings: readonly Ending[] = [
  { kind: "text", path: "text", body: { input: "Hi" }, told: null },
  { kind: "object", path: "object", body: { input: "Hi", schema }, told: null },
  { kind: "stream", path: "stream", body: { input: "Hi" }, told: (error) => [{ type: "error", error }] },
  {
    kind: "stream-object",
    path: "stream-object",
    body: { input: "Hi", schema },
    told: (error) => [{ type: "error", error }],
  },
  {
    kind: "chat",
    path: "chat",
    body: { input: [message] },
    told: (errorText) => [{ type: "error", errorText }, { type: "[DONE]" }],
  },
];

const failures: readonly {
  readonly name: string;
  readonly agent: string;
  readonly behaviour: Behaviour;
  readonly words?: string;
  /** Of a response that is not a stream. Default: 502. */
  readonly status?: number;
  /** How often the provider is asked. */
  readonly requests: number;
}[] = [
  {
    name: "429 for ever",
    agent: "patient",
    behaviour: { kind: "refuse", status: 429, headers: retryNow },
    words: busy,
    status: 503,
    requests: 3,
  },
  {
    name: "500 for ever",
    agent: "patient",
    behaviour: { kind: "refuse", status: 500, headers: retryNow },
    requests: 3,
  },
  {
    name: "401 with words of the provider",
    agent: "patient",
    behaviour: { kind: "refuse", status: 401 },
    requests: 1,
  },
  {
    name: "400 with words of the provider",
    agent: "patient",
    behaviour: { kind: "refuse", status: 400 },
    requests: 1,
  },
  { name: "garbage instead of an answer", agent: "helper", behaviour: { kind: "garbage" }, requests: 1 },
  {
    name: "an error inside the answer",
    agent: "helper",
    behaviour: { kind: "error-inside", text: ["half "] },
    requests: 1,
  },
  {
    name: "garbage inside the answer",
    agent: "helper",
    behaviour: { kind: "garbage-inside", text: ["half "] },
    requests: 1,
  },
  {
    name: "an answer that is cut",
    agent: "helper",
    behaviour: { kind: "cut", text: ["half "], how: "ended" },
    requests: 1,
  },
  {
    name: "a connection that is cut",
    agent: "helper",
    behaviour: { kind: "cut", text: ["half "], how: "destroyed" },
    requests: 1,
  },
  {
    name: "a stall before a word",
    agent: "hasty",
    behaviour: { kind: "stall", text: [] },
    words: late,
    requests: 1,
  },
  {
    name: "a stall after a word",
    agent: "hasty",
    behaviour: { kind: "stall", text: ["half "] },
    words: late,
    requests: 1,
  },
  { name: "a connection that is refused", agent: "dead", behaviour: { kind: "answer" }, requests: 0 },
];

describe.each(providers)("$name", async (provider) => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  const remote = await startProvider(provider.wire);
  const model = provider.model(remote.url);
  const server = await serveForTest({ agents: agentsOn(model, provider.model(await refusedAddress())) });
  beforeEach(() => {
    process.on("unhandledRejection", note);
  });
  afterEach(async () => {
    // The server continues, and every thrown error was caught.
    remote.behave(() => ({ kind: "answer", text: ["still here"] }));
    expect(dataOf(await server.post("/agents/helper/text", { input: "Hi" })).text).toBe("still here");
    process.off("unhandledRejection", note);
    expect(unhandled.splice(0)).toEqual([]);
  });

  describe.each(failures)("$name", ({ agent, behaviour, requests, words = failed, status = 502 }) => {
    test.each(endings)("$kind", async ({ path, body, told }) => {
      remote.behave(() => behaviour);
      const answer = await server.post(`/agents/${agent}/${path}`, body);
      if (told === null) {
        expect(errorOf(answer, status)).toBe(words);
      } else {
        expect(answer.status).toBe(200);
        const expected = told(words);
        expect(framesOf(answer.text).slice(-expected.length)).toEqual(expected);
      }
      expect(remote.received).toHaveLength(requests);
      expect(answer.text + JSON.stringify([...answer.headers])).not.toContain(canary);
      if (behaviour.kind === "stall") await remote.abandoned();
    });
  });

  test.each(endings)("429 once and then an answer: $kind is answered", async ({ path, body }) => {
    const text = [path.includes("object") ? '{"a":1}' : "Hello"];
    remote.behave((_, number) =>
      number === 1 ? { kind: "refuse", status: 429, headers: retryNow } : { kind: "answer", text },
    );
    const answer = await server.post(`/agents/patient/${path}`, body);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(path.includes("object") ? '"a":1' : "Hello");
    expect(answer.text).not.toContain('"error"');
    expect(remote.received).toHaveLength(2);
    expect(answer.text).not.toContain(canary);
  });

  test("retry-after is waited for", async () => {
    const times: number[] = [];
    remote.behave((_, number) => {
      times.push(performance.now());
      return number === 1
        ? { kind: "refuse", status: 429, headers: { "retry-after": "3" } }
        : { kind: "answer", text: ["Hello"] };
    });
    dataOf(await server.post("/agents/patient/text", { input: "Hi" }));
    // The provider's seconds, not the two that are waited for without its word.
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(2900);
  });

  test("text before the failure is kept as partial, without the provider's words", async () => {
    remote.behave(() => ({ kind: "error-inside", text: ["half ", "an answer"] }));
    const id = "broken-off";
    await server.post("/agents/helper/chat", { id, messages: [message] });
    const messages = await server.get(`/api/conversations/${id}/messages`);
    const [, kept] = listOf(dataOf(messages), "messages");
    expect(kept).toMatchObject({ role: "assistant", partial: true });
    expect(JSON.stringify(kept)).toContain("half an answer");
    expect(messages.text).not.toContain(canary);
  });

  test("a caller that leaves is noticed by the provider", async () => {
    remote.behave(() => ({ kind: "stall", text: ["half "] }));
    const reader = await server.stream("/agents/helper/stream", { input: "Hi" });
    await reader.until("text-delta");
    await reader.drop();
    await remote.abandoned();
  });
});

function framesOf(text: string): unknown[] {
  expect(text.endsWith("\n\n")).toBe(true);
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((frame) => frame.replace(/^data: /, ""))
    .map((data) => (data === "[DONE]" ? { type: "[DONE]" } : JSON.parse(data)));
}
