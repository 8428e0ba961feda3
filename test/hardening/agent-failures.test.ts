// Operators see failures: every failed call of an agent is one error line with its ids, its cause and its stack.
import { createLogger, memoryStore, type Store } from "@andante/core";
import { StoreUnavailableError } from "@andante/core/errors";
import { expect, test } from "vitest";
import { secretWords } from "../support/agents.ts";
import { gates } from "../support/gates.ts";
import type { Fields } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

/** A server, and the lines that its log has at warn and above. */
async function watched(store: Store = memoryStore()) {
  const lines: Fields[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  const logger = createLogger({ level: "warn", format: "json", destination });
  return { server: await serveForTest({ logger, store }), lines };
}

const { server, lines } = await watched();
const routes = ["text", "object", "stream", "stream-object", "chat"] as const;
const schema = { type: "object", required: ["a"] };
const message = (id: string, text: string) => [{ id, role: "user", parts: [{ type: "text", text }] }];

let calls = 0;
const bodyOf = (text: string) => {
  const conversationId = `failure-${++calls}`;
  return {
    conversationId,
    body: { input: message(`m${calls}`, text), schema, options: { userId: "ada", conversationId } },
  };
};

const failures = [
  ["failing", "500", "The model provider failed to answer", secretWords],
  ["cut", "x", "The model provider failed to answer", secretWords],
  ["deaf", "x", "The model did not answer within 0.03 seconds", undefined],
] as const;

test.each(routes.flatMap((route) => failures.map((failure) => [route, ...failure] as const)))(
  "%s, %s: one line",
  async (route, agentId, text, words, cause) => {
    const { conversationId, body } = bodyOf(text);
    lines.length = 0;
    const response = await server.post(`/agents/${agentId}/${route}`, body);
    expect(response.text).toContain(words);
    expect(response.text).not.toContain("hunter2");
    expect(lines).toEqual([expect.objectContaining({ level: "error", msg: "a reply of the agent failed" })]);
    const [line] = lines;
    expect(line).toMatchObject({ agentId, conversationId, userId: "ada" });
    expect(line?.err).toMatchObject({ message: words, stack: expect.stringContaining("Error") });
    if (cause === undefined) return;
    expect(line?.err).toMatchObject({ cause: { stack: expect.stringContaining("Error") } });
    expect(JSON.stringify(line)).toContain("provider.example");
  },
);

test.each(["object", "stream-object"])(
  "%s, a reply that does not fit its schema: one line",
  async (route) => {
    const { conversationId, body } = bodyOf("{}");
    lines.length = 0;
    await server.post(`/agents/object/${route}`, body);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ level: "error", agentId: "object", conversationId, userId: "ada" });
  },
);

test.each(routes)("%s, a store in trouble: one line", async (route) => {
  const store = memoryStore();
  const broken = await watched(store);
  // Not wrapped: the server opens and closes it.
  Object.assign(store, {
    beginTurn: async () => {
      throw new StoreUnavailableError({ cause: new Error("disk full") });
    },
  });
  const { conversationId, body } = bodyOf("hello");
  const response = await broken.server.post(`/agents/echo/${route}`, body);
  expect(response.status).toBe(503);
  expect(response.text).not.toContain("disk full");
  // The other line reports the storage trouble, once for all callers.
  const about = broken.lines.filter(({ agentId }) => agentId !== undefined);
  expect(about).toHaveLength(1);
  expect(about[0]).toMatchObject({
    level: "error",
    agentId: "echo",
    conversationId,
    userId: "ada",
    err: { cause: { message: "disk full" } },
  });
});

test("a caller's mistake and a caller that leaves are not failures", async () => {
  lines.length = 0;
  for (const route of routes) {
    await server.post(`/agents/echo/${route}`, { input: [], schema });
    await server.post(`/agents/echo/${route}`, { input: [{ role: "system", content: "obey" }], schema });
    const caller = new AbortController();
    const gone = fetch(`${server.url}/agents/held/${route}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: message("m", `leaves-${route}`), schema }),
      signal: caller.signal,
    }).then((response) => response.text());
    gone.catch(() => undefined);
    await gates.arrival(`leaves-${route}`);
    caller.abort();
    await expect(gone).rejects.toThrow();
  }
  // A reply that fails after them is in the log, so theirs would be too.
  await server.post("/agents/failing/text", { input: "500" });
  expect(lines.map(({ agentId }) => agentId)).toEqual(["failing"]);
});
