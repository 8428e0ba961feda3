// Bodies that are being read: the received bytes of all of them are bounded, and a stalled body is cut first.
import { HonoRequest } from "hono/request";
import { afterEach, expect, test, vi } from "vitest";
import { HeldBytes } from "./held-bytes.ts";
import { OwnTurns } from "./own-turn.ts";
import { countBody, readJsonBody } from "./request-body.ts";

const turns = new OwnTurns();
afterEach(() => void vi.useRealTimers());

/** A request whose body the test sends in parts. */
function sending() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", body: readable, headers, duplex: "half" } as const;
  const request = new HonoRequest(new Request("http://localhost/", init));
  const writer = writable.getWriter();
  return { request, write: (text: string) => writer.write(Buffer.from(text)), end: () => writer.close() };
}

test("a body that comes in pieces is read, and held no longer than that", async () => {
  const bodies = new HeldBytes(10);
  for (let n = 0; n < 5; n++) {
    const { request, write, end } = sending();
    const body = readJsonBody(request, { maxBody: 100, bodies, turns });
    await write("[1,");
    await write("2,3]");
    await end();
    expect(await body).toEqual([1, 2, 3]);
    expect(bodies.size).toBe(0);
  }
});

test("one that makes no progress is refused when others would not fit beside it", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const bodies = new HeldBytes(10);
  const [still, lively] = [sending(), sending()];
  const refused = readJsonBody(still.request, { maxBody: 100, bodies, turns }).catch(
    (error: unknown) => error,
  );
  await still.write("[1,2,3");
  vi.advanceTimersByTime(2000);
  const read = readJsonBody(lively.request, { maxBody: 100, bodies, turns });
  await lively.write("[1,2,3,4");
  await lively.write("]");
  await lively.end();
  expect(await read).toEqual([1, 2, 3, 4]);
  expect(await refused).toMatchObject({ status: 400, message: "The request body was not sent in time" });
  expect(bodies.size).toBe(0);
});

test("one that is too large is refused, and not held", async () => {
  const bodies = new HeldBytes(100);
  const { request, write } = sending();
  const refused = readJsonBody(request, { maxBody: 10, bodies, turns }).catch((error: unknown) => error);
  await write(" ".repeat(11));
  expect(await refused).toMatchObject({ status: 413 });
  expect(bodies.size).toBe(0);
});

test("a body that a route of the host's reads is held until it is read, and the largest is given up", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const bodies = new HeldBytes(10);
  const [still, lively, unread] = [sending(), sending(), sending()];
  const counted = countBody(still.request.raw, bodies);
  const refused = counted.request.text().catch((error: unknown) => error);
  await still.write("[1,2,3");
  vi.advanceTimersByTime(2000);
  const other = countBody(lively.request.raw, bodies);
  const read = other.request.text();
  await lively.write("[1,2,3,4");
  await lively.write("]");
  await lively.end();
  expect(await read).toBe("[1,2,3,4]");
  expect(await refused).toMatchObject({ status: 400, message: "The request body was not sent in time" });
  countBody(unread.request.raw, bodies).end();
  expect(bodies.size).toBe(0);
});

test("long bodies that arrive together are parsed in different turns of the event loop", async () => {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const read = async (length: number) => {
    const { request, write, end } = sending();
    const body = readJsonBody(request, { maxBody: length + 2, bodies: new HeldBytes(1_000_000), turns });
    await Promise.all([write(JSON.stringify("x".repeat(length))), end()]);
    expect(await body).toHaveLength(length);
    return turn;
  };
  const parsedIn = await Promise.all([100_000, 100_000, 100_000].map(read));
  const [one, other] = await Promise.all([1000, 1000].map(read));
  isOver = true;
  expect(new Set(parsedIn).size).toBe(parsedIn.length);
  expect(one).toBe(other);
});
