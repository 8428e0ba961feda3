// Who sees the stacks of errors in log lines: with authentication only those who are known.
import { expect, test } from "vitest";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { SocketClient } from "../support/socket-client.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

let server: TestServer;

const fail = () => server.andante.logger.error({ workflowId: "w", err: new Error("boom") }, "it failed");
const stack = "stacks.test.ts";

test("without authentication the log shows them", async () => {
  server = await serveForTest();
  fail();
  expect((await server.get("/api/logs?workflowId=w")).text).toContain(stack);
});

test("with authentication a caller without a token sees the error and not its stack", async () => {
  server = await serveForTest({ auth: provider() });
  fail();
  const { text } = await server.get("/api/logs?workflowId=w");
  expect(text).toContain("boom");
  expect(text).not.toContain(stack);
  expect((await server.get("/api/logs?workflowId=w", bearer(await tokenFor("ada")))).text).toContain(stack);
});

test.each([
  ["open", false],
  ["protect", true],
] as const)("sockets with webSocket: %s show them: %s", async (webSocket, shown) => {
  server = await serveForTest({ auth: provider({ webSocket }) });
  const token = await tokenFor("ada");
  const logs = await SocketClient.connect(server, `/ws/logs?workflowId=w&token=${token}`);
  const all = await SocketClient.connect(server, `/ws/observability?token=${token}`);
  await logs.next();
  fail();
  for (const message of [await logs.next(), await all.next()]) {
    expect(JSON.stringify(message)).toContain("boom");
    expect(JSON.stringify(message).includes(stack)).toBe(shown);
  }
  const again = await SocketClient.connect(server, `/ws/logs?workflowId=w&token=${token}`);
  expect(JSON.stringify(await again.next()).includes(stack)).toBe(shown);
});
