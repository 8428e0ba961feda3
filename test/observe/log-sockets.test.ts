// /ws/logs: kept lines, then new ones, by filter.
import { expect, test, vi } from "vitest";
import { numbers, numbersTo, writeLine } from "../support/log-lines.ts";
import { timestamp } from "../support/responses.ts";
import { serveForTest, type TestServer } from "../support/serve-for-test.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";

let server: TestServer;
/** For tests that need no server of their own. */
const plain = await serveForTest();

const line = (n: number, fields?: object) => writeLine(server, n, fields);

test("sends the newest kept lines, then new ones, each exactly once", async () => {
  server = await serveForTest();
  for (let n = 1; n <= 3; n++) line(n);
  const connecting = SocketClient.connect(server, "/ws/logs?workflowId=w&limit=2");
  for (let n = 4; n <= 50; n++) {
    line(n);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const client = await connecting;
  line(51);
  const first = await client.next();
  expect(first).toEqual({ type: "initial", success: true, logs: expect.any(Array), timestamp });
  const kept = numbers(first);
  expect(kept).toHaveLength(2);
  const [, last = 0] = kept;
  const expected = Array.from({ length: 51 - last }, (_, index) => last + 1 + index);
  expect(await numbersTo(client, 51)).toEqual(expected);
});

test("an update holds whole records", async () => {
  server = await serveForTest();
  const client = await SocketClient.connect(server, "/ws/logs?executionId=e1");
  expect(await client.next()).toMatchObject({ type: "initial", logs: [] });
  server.andante.logger.warn({ executionId: "e1", token: "hidden", text: 'a"b\u2028' }, "watch out");
  expect(await client.next()).toEqual({
    type: "update",
    success: true,
    logs: [
      {
        timestamp,
        level: "warn",
        msg: "watch out",
        executionId: "e1",
        token: "[redacted]",
        text: 'a"b\u2028',
      },
    ],
    timestamp,
  });
});

test("each filter of the query counts, for kept and for new lines", async () => {
  server = await serveForTest();
  const past = encodeURIComponent(new Date(Date.now() - 60_000).toISOString());
  const future = encodeURIComponent(new Date(Date.now() + 60_000).toISOString());
  const write = (n: number) => {
    line(n, { executionId: "e1", agentId: "a1", conversationId: "c1" });
    line(-n, { workflowId: "other" });
  };
  write(1);
  for (const query of [
    "workflowId=w",
    "executionId=e1",
    "agentId=a1",
    "conversationId=c1",
    `workflowId=w&since=${past}`,
  ]) {
    const client = await SocketClient.connect(server, `/ws/logs?${query}`);
    expect(numbers(await client.next()), query).toEqual(expect.arrayContaining([1]));
    write(2);
    expect(numbers(await client.next()), query).toEqual([2]);
    client.socket.close();
  }
  for (const query of ["level=warn", `since=${future}`, `until=${past}`]) {
    const client = await SocketClient.connect(server, `/ws/logs?workflowId=w&${query}`);
    const all = await SocketClient.connect(server, "/ws/logs?workflowId=w");
    expect(numbers(await client.next()), query).toEqual([]);
    await all.next();
    write(3);
    expect(numbers(await all.next())).toEqual([3]);
    expect(client.arrived, query).toEqual([]);
  }
});

test("updateFilter begins anew with another filter; an invalid one gets an error and changes nothing", async () => {
  server = await serveForTest();
  line(1);
  line(2, { executionId: "e2" });
  const client = await SocketClient.connect(server, "/ws/logs?workflowId=w");
  expect(numbers(await client.next())).toEqual([1, 2]);
  client.send({ type: "updateFilter", filter: { executionId: "e2", limit: 10 } });
  expect(numbers(await client.next())).toEqual([2]);
  for (const [message, error] of [
    ["no json {", /JSON/],
    ["null", /message/],
    [{ type: "unknown" }, /message.type/],
    [{ type: "updateFilter", filter: { level: "loud" } }, /message.filter.level/],
    [{ type: "updateFilter", filter: { limit: 5000 } }, /message.filter.limit/],
  ] as const) {
    client.send(message);
    expect(await client.next()).toEqual({
      type: "error",
      success: false,
      error: expect.stringMatching(error),
    });
  }
  line(3);
  line(4, { executionId: "e2" });
  expect(numbers(await client.next())).toEqual([4]);
});

test.each(["level=loud", "limit=0", "limit=1001", "since=yesterday"])(
  "%s is refused with 400",
  async (query) => {
    const { status, body } = await refusal(plain, `/ws/logs?${query}`);
    expect(status).toBe(400);
    expect(body).toEqual({ success: false, error: expect.stringContaining(`query.${query.split("=")[0]}`) });
  },
);

test("a client has one reading under way at a time, however fast it changes its filter", async () => {
  server = await serveForTest();
  const { logs } = server.andante;
  const kept = logs.kept.bind(logs);
  let [underWay, most] = [0, 0];
  const reading = vi.spyOn(logs, "kept").mockImplementation(async (...asked) => {
    most = Math.max(most, ++underWay);
    return kept(...asked).finally(() => underWay--);
  });
  const client = await SocketClient.connect(server, "/ws/logs");
  for (let n = 1; n <= 500; n++) client.send({ type: "updateFilter", filter: { executionId: `e${n}` } });
  await expect.poll(() => reading.mock.lastCall?.[0]).toMatchObject({ executionId: "e500" });
  expect(most).toBe(1);
});
