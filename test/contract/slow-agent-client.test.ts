// Answers of agents under fire: a client that reads nothing holds back its own model, not the server.
import { type IncomingMessage, request } from "node:http";
import { Agent } from "@andante/core";
import { expect, test } from "vitest";
import { controlledModel } from "../../packages/core/test/support/controlled-model.ts";
import { dataOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const pieces = 8_000;
const piece = "x".repeat(1000);
/** How many pieces the model was asked for; an event of the test loop passes between two of them. */
let said = 0;
const model = controlledModel(() => ({
  text: Array(pieces).fill(piece),
  hold: async (number) => {
    said = number;
    if (number % 100 === 0) await new Promise(setImmediate);
  },
}));
const server = await serveForTest({
  agents: { flood: new Agent({ id: "flood", model, timeout: 60_000 }) },
});

/** Asks and reads nothing of the answer. */
function silentClient(path: string, body: object): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { "content-type": "application/json" };
  const outgoing = request(server.url + path, { method: "POST", headers }, (incoming) => {
    incoming.pause();
    incoming.on("error", () => undefined);
    resolve(incoming);
  });
  outgoing.on("error", reject);
  outgoing.end(JSON.stringify(body));
  return promise;
}

/** Resolves when the model has not been asked for anything during a hundred answered requests. */
async function atRest(): Promise<number> {
  for (let before = -1; before !== said; ) {
    before = said;
    for (let n = 0; n < 100; n++) dataOf(await server.get("/agents/flood"));
  }
  return said;
}

test("a client that reads nothing holds back the model of /stream, and the others are served", async () => {
  const silent = await silentClient("/agents/flood/stream", { input: "x" });
  // The model had eight megabytes ready; the buffers of sockets and streams hold less.
  expect(await atRest()).toBeLessThan(pieces - 1000);
  silent.destroy();
  await expect.poll(async () => (await server.andante.agents.read("flood")).status).toBe("idle");
});

test("a chat without a reader continues to its end", async () => {
  const body = { id: "flood", messages: [{ id: "u", role: "user", parts: [{ type: "text", text: "x" }] }] };
  const silent = await silentClient("/agents/flood/chat", body);
  await expect.poll(async () => (await server.andante.agents.read("flood")).status).toBe("idle");
  const { messages } = await server.andante.conversations.messages("flood");
  expect(messages.at(-1)?.parts.find(({ type }) => type === "text")).toMatchObject({
    text: piece.repeat(pieces),
  });
  silent.destroy();
});
