// The replies of agents that run at once are bounded, and however one ends, its place is free again.
import { createAndante, memoryStore } from "@andante/core";
import { expect, test } from "vitest";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const refusal = "Too many agent replies are running (limit 2), try again later";
const server = await serveForTest({ limits: { agentReplies: 2 } });
const schema = { type: "string" };
const routes = ["text", "object", "stream", "stream-object", "chat"] as const;
type Route = (typeof routes)[number];

const message = (text: string) => [{ id: text, role: "user", parts: [{ type: "text", text }] }];
const bodyFor = (door: string, fields: object = {}) => ({ input: message(door), schema, ...fields });

let opened = 0;
/** Starts a reply that waits at a door of its own, and returns when it has arrived there. */
async function hold(route: Route, fields: object = {}) {
  const door = `reply-${++opened}`;
  const caller = new AbortController();
  const response = fetch(`${server.url}/agents/held/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(bodyFor(door, fields)),
    signal: caller.signal,
  }).then((response) => response.text());
  response.catch(() => undefined);
  await gates.arrival(door);
  return { door, caller, response };
}

const ask = (route: Route) => server.post(`/agents/echo/${route}`, bodyFor("hello"));

/** Both places are free: two replies fit. */
async function bothAreFree(): Promise<void> {
  await expect
    .poll(async () => {
      const responses = await Promise.all([ask("text"), ask("text")]);
      return responses.map(({ status }) => status);
    })
    .toEqual([200, 200]);
}

test.each(routes)("one more than may run is 503 with Retry-After: %s", async (route) => {
  const held = [await hold("text"), await hold("chat")];
  const refused = await ask(route);
  expect(errorOf(refused, 503)).toBe(refusal);
  expect(refused.headers.get("retry-after")).toBe("1");
  for (const { door } of held) gates.open(door);
  await Promise.all(held.map(({ response }) => response));
  await bothAreFree();
});

test.each(routes)("a caller that leaves frees its place: %s", async (route) => {
  const held = [await hold(route), await hold(route)];
  for (const { caller } of held) caller.abort();
  for (const { response } of held) await expect(response).rejects.toThrow();
  await bothAreFree();
});

test("a reply that fails frees its place, before the model is asked and after", async () => {
  for (const route of routes) {
    for (const agent of ["failing", "cut", "silent", "deaf"]) {
      await server.post(`/agents/${agent}/${route}`, bodyFor("500"));
    }
    await server.post(`/agents/echo/${route}`, { input: [], schema });
    await server.post(`/agents/echo/${route}`, bodyFor("x", { options: { temperature: 9 } }));
  }
  await bothAreFree();
});

test("a reply that is stopped frees its place, and so does one that waits for its conversation", async () => {
  const options = { conversationId: "waiting" };
  const first = await hold("chat", { options });
  const caller = new AbortController();
  const second = fetch(`${server.url}/agents/held/text`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(bodyFor("never", { options })),
    signal: caller.signal,
  });
  second.catch(() => undefined);
  await expect.poll(async () => (await ask("text")).status).toBe(503);
  caller.abort();
  await expect.poll(async () => (await ask("text")).status).toBe(200);
  const stopped = await server.send("DELETE", "/agents/held/chat/waiting/stream");
  expect(dataOf(stopped)).toEqual({ stopped: true });
  await first.response;
  await bothAreFree();
});

test("a limit below one is refused at start", () => {
  expect(() => createAndante({ store: memoryStore(), limits: { agentReplies: 0 } })).toThrow(
    "limits.agentReplies",
  );
});
