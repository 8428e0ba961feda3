// Files by URL at the bound of all calls: other users are served, and a call without room can try again.
import { once } from "node:events";
import { createServer } from "node:http";
import net, { type AddressInfo } from "node:net";
import { Agent } from "@andante/core";
import { expect, test, vi } from "vitest";
import { controlledModel, lastText } from "../../packages/core/test/support/controlled-model.ts";
import { inTime } from "../../packages/core/test/support/in-time.ts";
import { cleanup } from "../support/cleanup.ts";
import { errorOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const host = "files.example";
const mebibyte = 1024 * 1024;

/** A server of files, whose path is their length. The AI SDK loads none from loopback, so it has a name in this process. */
async function fileServer() {
  const { connect } = net;
  const named = (options: net.TcpNetConnectOpts, ...rest: []) =>
    connect(options.host === host ? { ...options, host: "127.0.0.1" } : options, ...rest);
  const spy = vi.spyOn(net, "connect").mockImplementation(named as typeof connect);
  const asked: string[] = [];
  const server = createServer(({ url = "/" }, response) => {
    asked.push(url);
    response.end(Buffer.alloc(Number(url.slice(1))));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanup(async () => {
    spy.mockRestore();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { asked, at: (size: number) => `http://${host}:${port}/${size}` };
}

test("a user who takes all memory of files keeps no other out, and gets 503 for more", async () => {
  const { asked, at } = await fileServer();
  const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  cleanup(async () => held.resolve());
  const model = controlledModel((call) => ({
    text: ["seen"],
    hold: () => {
      if (lastText(call) !== "hold") return Promise.resolve();
      reached.resolve();
      return held.promise;
    },
  }));
  const server = await serveForTest({ agents: { look: new Agent({ id: "look", model, maxRetries: 0 }) } });
  const message = (text: string, size: number) => ({
    ...{ id: "m", role: "user" },
    parts: [
      { type: "text", text },
      { type: "file", mediaType: "application/pdf", url: at(size) },
    ],
  });
  const ask = (how: string, size: number, options: object = {}, text = "look") =>
    server.post(`/agents/look/${how}`, { input: [message(text, size)], options });
  const mallory = { userId: "mallory" };
  const holding = ask("text", 50 * mebibyte, mallory, "hold");
  await inTime(Promise.race([reached.promise, holding]), "the call of the model", 20_000);
  const leave = new AbortController();
  const waiting = Array.from({ length: 32 }, () =>
    fetch(`${server.url}/agents/look/text`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: [message("look", 1)], options: mallory }),
      signal: leave.signal,
    }).catch(() => undefined),
  );
  await expect.poll(() => asked.filter((url) => url === "/1")).toHaveLength(32);
  for (const [how, options] of [
    ["text", mallory],
    ["text", { ...mallory, conversationId: "text" }],
    ["chat", { ...mallory, conversationId: "chat" }],
  ] as const) {
    const refused = await ask(how, 1, options);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(errorOf(refused, 503)).toContain("The files of other replies take all the memory");
  }
  for (const how of ["stream", "chat"]) {
    const reader = await server.stream(`/agents/look/${how}`, {
      input: [message("look", 1)],
      options: mallory,
    });
    expect(JSON.stringify(await reader.rest())).toContain("The files of other replies take all the memory");
  }
  const other = await ask("chat", 14 * mebibyte, { userId: "ada", conversationId: "ada" });
  expect(other.status).toBe(200);
  leave.abort();
  await Promise.all(waiting);
  held.resolve();
  expect((await holding).status).toBe(200);
  // The same message again, now that there is room.
  expect((await ask("chat", 1, { ...mallory, conversationId: "chat" })).status).toBe(200);
});
