// Prefer: respond-async on the calls of agents: 202 at once, and a Location that returns the reply
import { Agent } from "@andante/core";
import { expect, test } from "vitest";
import { controlledModel, lastText } from "../../packages/core/test/support/controlled-model.ts";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf, type Fields, listOf, type TestResponse, textOf } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { temporaryFile } from "../support/temporary-file.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

const prefer = { prefer: "respond-async" };

/** Replies with what it was asked, once the door of that name is open. */
const held = () =>
  new Agent({
    id: "held",
    model: controlledModel((call) => ({
      text: [`You said ${lastText(call)}`],
      hold: () => gates.pass(lastText(call)),
    })),
  });

const forgetful = new Agent({
  id: "forgetful",
  memory: false,
  model: controlledModel(() => ({ text: ["?"] })),
});
const objects = new Agent({ id: "objects", model: controlledModel(() => ({ text: ['{"city":"Rome"}'] })) });
const agents = { held: held(), forgetful, objects };

function locationOf(answer: TestResponse): string {
  const data = dataOf(answer, 202);
  const { conversationId, messageId } = data;
  expect(data).toEqual({
    conversationId: expect.any(String),
    messageId: expect.any(String),
    status: "running",
  });
  const path = `/api/conversations/${encodeURIComponent(String(conversationId))}/messages`;
  const location = `${path}?replyTo=${encodeURIComponent(String(messageId))}`;
  expect(answer.headers.get("location")).toBe(location);
  return location;
}

const read = async (server: TestServer, location: string, headers: Record<string, string> = {}) =>
  dataOf(await server.get(location, headers));

const textIn = (page: Fields) =>
  listOf(page, "messages")
    .flatMap((message) => listOf(message, "parts"))
    .map(({ text = "" }) => text)
    .join("");

async function done(
  server: TestServer,
  location: string,
  headers: Record<string, string> = {},
): Promise<Fields> {
  await expect.poll(async () => (await read(server, location, headers)).reply).toBe("done");
  return read(server, location, headers);
}

test("text answers 202 while the reply is made, in a conversation of its own, and the Location returns it", async () => {
  const server = await serveForTest({ agents });
  const answer = await server.post("/agents/held/text", { input: "async-text" }, prefer);
  const location = locationOf(answer);
  expect(await read(server, location)).toEqual({ messages: [], nextCursor: null, reply: "running" });
  gates.open("async-text");
  const page = await done(server, location);
  expect(textIn(page)).toBe("You said async-text");
  expect(listOf(page, "messages")).toMatchObject([{ role: "assistant" }]);
});

test("a chat names its message, one that waits for another reply is running, and each gets its own reply", async () => {
  const server = await serveForTest({ agents });
  const ask = (text: string) => {
    const message = { id: `${text}/ü`, role: "user", parts: [{ type: "text", text }] };
    return server.post("/agents/held/chat", { id: "queued chat", messages: [message] }, prefer);
  };
  const first = await ask("async-first");
  expect(textOf(dataOf(first, 202), "messageId")).toBe("async-first/ü");
  const second = locationOf(await ask("async-second"));
  expect((await read(server, second)).reply).toBe("running");
  gates.open("async-first");
  gates.open("async-second");
  expect(textIn(await done(server, locationOf(first)))).toBe("You said async-first");
  expect(textIn(await done(server, second))).toBe("You said async-second");
});

test("an object is the text of its message", async () => {
  const server = await serveForTest({ agents });
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const answer = await server.post("/agents/objects/object", { input: "where?", schema }, prefer);
  expect(JSON.parse(textIn(await done(server, locationOf(answer))))).toEqual({ city: "Rome" });
});

test("the Location returns the reply after a restart of the server, which continues it", async () => {
  const file = temporaryFile();
  const first = await serveForTest({ agents, store: file.open(), grace: 0 });
  const location = locationOf(await first.post("/agents/held/text", { input: "async-restart" }, prefer));
  await gates.arrival("async-restart");
  await first.close();
  gates.open("async-restart");
  const second = await serveForTest({ agents: { ...agents, held: held() }, store: file.open() });
  expect(textIn(await done(second, location))).toBe("You said async-restart");
});

test("the reply belongs to the caller; another one finds nothing", async () => {
  const server = await serveForTest({ agents, auth: provider() });
  const [ada, eve] = [bearer(await tokenFor("ada")), bearer(await tokenFor("eve"))];
  gates.open("async-mine");
  const answer = await server.post("/agents/held/text", { input: "async-mine" }, { ...prefer, ...ada });
  const location = locationOf(answer);
  expect(textIn(await done(server, location, ada))).toBe("You said async-mine");
  errorOf(await server.get(location, eve), 404);
});

test("wrong requests are refused as without the header, and so is an agent that keeps nothing", async () => {
  const server = await serveForTest({ agents });
  errorOf(await server.post("/agents/nope/text", { input: "x" }, prefer), 404);
  errorOf(await server.post("/agents/held/text", {}, prefer), 400);
  errorOf(await server.post("/agents/held/text", { input: "" }, prefer), 400);
  const refused = errorOf(await server.post("/agents/forgetful/text", { input: "x" }, prefer), 400);
  expect(refused).toContain("keeps no conversation");
  errorOf(await server.post("/agents/objects/object", { input: "x", schema: "no schema" }, prefer), 400);
  gates.open("async-unknown");
  const data = dataOf(await server.post("/agents/held/text", { input: "async-unknown" }, prefer), 202);
  const unknown = `/api/conversations/${textOf(data, "conversationId")}/messages?replyTo=nothing`;
  expect(await read(server, unknown)).toEqual({ messages: [], nextCursor: null, reply: "none" });
});
