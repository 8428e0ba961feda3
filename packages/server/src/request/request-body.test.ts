// Bodies until their handler has them: the bytes of all of them are bounded, and a stalled body is cut first.
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { AndanteError } from "@andante/core";
import { Hono } from "hono";
import { HonoRequest } from "hono/request";
import { afterEach, expect, test, vi } from "vitest";
import { BodyMemory } from "./body-memory.ts";
import { BodyQueue } from "./body-queue.ts";
import { HeldBytes } from "./held-bytes.ts";
import { limitCustomBody } from "./limit-custom-body.ts";
import { bindIncoming } from "./node-request.ts";
import { type BodyBounds, countBody, readJsonBody } from "./request-body.ts";

const parsed = new BodyMemory(Number.POSITIVE_INFINITY, 0);
const complete = new BodyQueue(Number.POSITIVE_INFINITY);
const bodyOf = (request: HonoRequest, bounds: BodyBounds, client = "ada") =>
  readJsonBody(request, bounds, () => client);
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

/** Waits until the rest was read: more than a stream takes without a reader. */
async function sendRest({ write, end }: Pick<ReturnType<typeof sending>, "write" | "end">): Promise<void> {
  for (let n = 0; n < 5; n++) await write("more");
  await end();
}

test("a body that comes in pieces is read, and held no longer than that", async () => {
  const bodies = new HeldBytes(10);
  for (let n = 0; n < 5; n++) {
    const { request, write, end } = sending();
    const body = bodyOf(request, { maxBody: 100, bodies, complete, parsed });
    await write("[1,");
    await write("2,3]");
    await end();
    expect(await body).toEqual([1, 2, 3]);
    expect(bodies.size).toBe(0);
  }
});

test("one that makes no progress is refused when others would not fit beside it", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const bodies = new HeldBytes(20);
  const [still, lively] = [sending(), sending()];
  const refused = bodyOf(still.request, { maxBody: 100, bodies, complete, parsed }).catch(
    (error: unknown) => error,
  );
  await still.write("[1,2,3");
  vi.advanceTimersByTime(2000);
  const read = bodyOf(lively.request, { maxBody: 100, bodies, complete, parsed });
  await lively.write("[1,2,3,4");
  await lively.write("]");
  await lively.end();
  expect(await read).toEqual([1, 2, 3, 4]);
  expect(await refused).toMatchObject({ status: 400, message: "The request body was not sent in time" });
  expect(bodies.size).toBe(0);
  await sendRest(still);
});

test("one that is too large is refused, and not held", async () => {
  const bodies = new HeldBytes(100);
  const { request, write, end } = sending();
  const refused = bodyOf(request, { maxBody: 10, bodies, complete, parsed }).catch((error: unknown) => error);
  await write(" ".repeat(11));
  expect(await refused).toMatchObject({ status: 413 });
  expect(bodies.size).toBe(0);
  await sendRest({ write, end });
});

test("a body that a route of the host's reads is held until it is read, and the largest is given up", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const bodies = new HeldBytes(10);
  const [still, lively, unread] = [sending(), sending(), sending()];
  const counted = countBody(still.request.raw, bodies, "ada");
  const refused = counted.request.text().catch((error: unknown) => error);
  await still.write("[1,2,3");
  vi.advanceTimersByTime(2000);
  const other = countBody(lively.request.raw, bodies, "ada");
  const read = other.request.text();
  await lively.write("[1,2,3,4");
  await lively.write("]");
  await lively.end();
  expect(await read).toBe("[1,2,3,4]");
  expect(await refused).toMatchObject({ status: 400, message: "The request body was not sent in time" });
  const third = countBody(unread.request.raw, bodies, "ada");
  third.end();
  other.end();
  expect(bodies.size).toBe(0);
  for (const [body, sender] of [
    [counted, still],
    [third, unread],
  ] as const) {
    body.responded();
    await sendRest(sender);
  }
  await expect(third.request.text()).rejects.toMatchObject({ status: 400 });
});

test("a body that a route of the host's has read counts until the route ends", async () => {
  const bodies = new HeldBytes(10);
  const read = async (text: string) => {
    const { request, write, end } = sending();
    const { request: own, end: routeEnds } = countBody(request.raw, bodies, "ada");
    const received = own.text().catch((error: unknown) => error);
    await write(text);
    // A body that was cut has ended already.
    await end().catch(() => undefined);
    return { received: await received, routeEnds };
  };
  const first = await read("[1,2]");
  expect(first.received).toBe("[1,2]");
  expect((await read("[1,2,3]")).received).toMatchObject({ status: 503, retryAfter: 1 });
  expect((await read("[3,4]")).received).toBe("[3,4]");
  first.routeEnds();
  expect((await read("[5,6]")).received).toBe("[5,6]");
});

/** A request with a body of this many bytes. */
function whole(bytes: number): HonoRequest {
  const text = JSON.stringify("x".repeat(bytes - 2));
  const headers = { "content-type": "application/json", "content-length": String(bytes) };
  return new HonoRequest(new Request("http://localhost/", { method: "POST", body: text, headers }));
}

const outcomeOf = (reading: Promise<unknown>) =>
  reading.then(
    () => "read",
    (error: unknown) => error,
  );

test("bodies that wait to be parsed count, and one that does not fit beside them is refused", async () => {
  const bodies = new HeldBytes(100_000);
  // No turn of the event loop begins while only streams are awaited.
  const arrive = async (bytes: number) => {
    const { request, write, end } = sending();
    const outcome = outcomeOf(bodyOf(request, { maxBody: 60_000, bodies, complete, parsed }));
    await write(JSON.stringify("x".repeat(bytes - 2)));
    // A body that was cut has ended already.
    await end().catch(() => undefined);
    return () => outcome;
  };
  const refused = { status: 503, retryAfter: 1, code: "bodies-limit" };
  const [one, second, third, fourth] = [
    await arrive(50_000),
    await arrive(50_000),
    await arrive(40_000),
    await arrive(17_000),
  ];
  expect(await Promise.all([one(), second(), third(), fourth()])).toMatchObject([
    "read",
    "read",
    refused,
    refused,
  ]);
  expect(await (await arrive(60_000))()).toBe("read");
  expect(bodies.size).toBe(0);
});

/** The same request as Node has it, with a body that arrived together with the headers. */
function atHand(bytes: number): HonoRequest {
  const request = whole(bytes);
  const incoming = new IncomingMessage(new Socket());
  incoming.headers = { "content-type": "application/json", "content-length": String(bytes) };
  incoming.push(JSON.stringify("x".repeat(bytes - 2)));
  incoming.push(null);
  bindIncoming(request.raw, { incoming });
  return request;
}

test("a body that arrived with its headers counts while it waits to be parsed", async () => {
  const bounds = { maxBody: 60_000, bodies: new HeldBytes(50_000), complete, parsed };
  const read = (bytes: number) => outcomeOf(bodyOf(atHand(bytes), bounds));
  const [one, other, short] = await Promise.all([read(40_000), read(40_000), read(16_000)]);
  expect([one, short]).toEqual(["read", "read"]);
  expect(other).toMatchObject({ status: 503, code: "bodies-limit" });
  expect(await read(50_000)).toBe("read");
  expect(bounds.bodies.size).toBe(0);
});

test("a short body is read though others fill the memory for bodies", async () => {
  const bodies = new HeldBytes(50_000);
  const bounds = { maxBody: 60_000, bodies, complete, parsed };
  const long = bodyOf(whole(50_000), bounds);
  expect(await bodyOf(whole(16 * 1024), bounds)).toHaveLength(16 * 1024 - 2);
  expect(await long).toHaveLength(49_998);
});

/** Lets the readers take the parts that were written: writes to a body that was cut never end. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("bodies that get a byte now and then are cut before one that is sent steadily", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const kibibyte = 1024;
  const bounds = { maxBody: 512 * kibibyte, bodies: new HeldBytes(1280 * kibibyte), complete, parsed };
  const ended: unknown[] = [];
  const start = (name: string) => {
    const { request, write, end } = sending();
    void outcomeOf(bodyOf(request, bounds)).then((outcome) => ended.push([name, outcome]));
    return { write, end };
  };
  const steady = start("steady");
  await steady.write('"');
  const drips = [start("drips"), start("drips")];
  for (const { write } of drips) await write(" ".repeat(300 * kibibyte));
  // 64 KiB each second. The buffer has its full size when half of the body has arrived.
  const pass = async (seconds: number) => {
    for (let n = 0; n < 8 * seconds; n++) {
      vi.advanceTimersByTime(125);
      for (const { write } of drips) void write(" ");
      void steady.write("x".repeat(8 * kibibyte));
      await settled();
    }
  };
  const slow = ["drips", { status: 400, message: "The request body was not sent in time" }];
  await pass(5);
  expect(ended).toMatchObject([slow]);
  await pass(2);
  const late = start("late");
  void late.write(JSON.stringify("x".repeat(300 * kibibyte)));
  await settled();
  expect(ended).toMatchObject([slow, slow]);
  await steady.write('"');
  await Promise.all([steady.end(), late.end()]);
  await expect.poll(() => ended.length).toBe(4);
  expect(ended.slice(2).toSorted()).toEqual([
    ["late", "read"],
    ["steady", "read"],
  ]);
  expect(bounds.bodies.size).toBe(0);
});

test("a client that held nothing for a while is not slow when it sends again", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const bodies = new HeldBytes(100);
  const cuts: string[] = [];
  const cut = (name: string) => (isSlow: boolean) => void cuts.push(`${name} ${isSlow ? "slow" : "largest"}`);
  const [idle, other] = [bodies.hold("ada", cut("idle")), bodies.hold("ada", cut("other"))];
  idle.now(60);
  idle.now(0);
  vi.advanceTimersByTime(2000);
  idle.now(50);
  other.now(60);
  expect(cuts).toEqual(["other largest"]);
});

/** A custom route that notes the pieces in which it gets a body, and the number of bodies held then. */
function customRoute(limit: number, bodies: HeldBytes) {
  const pieces: number[] = [];
  const held: number[] = [];
  const app = new Hono();
  const refuse = (error: unknown) => {
    if (!(error instanceof AndanteError)) throw error;
    return new Response(error.message, { status: error.status });
  };
  app.use(
    "*",
    limitCustomBody(limit, bodies, () => "ada", refuse),
  );
  app.post("/", async ({ req, text }) => {
    for await (const { byteLength } of req.raw.body ?? []) pieces.push(byteLength);
    held.push(bodies.size);
    return text("received");
  });
  const respond = async (request: HonoRequest) => {
    const response = await app.request(request.raw);
    return `${response.status} ${await response.text()}`;
  };
  return { pieces, held, respond };
}

test("a body in chunks of a byte is kept in one piece for a custom route", async () => {
  const bodies = new HeldBytes(1000);
  const { pieces, held, respond } = customRoute(100, bodies);
  const send = async (bytes: number) => {
    const { request, write, end } = sending();
    const response = respond(request);
    for (let n = 0; n < bytes; n++) void write("x").catch(() => undefined);
    void end().catch(() => undefined);
    return response;
  };
  expect(await send(100)).toBe("200 received");
  expect(await send(0)).toBe("200 received");
  expect([pieces, held]).toEqual([[100], [1, 1]]);
  expect(await send(101)).toBe("413 The request body is larger than 100 bytes (limits.customBody)");
  expect([pieces, held, bodies.size]).toEqual([[100], [1, 1], 0]);
});

test("a body for a custom route that is cut or ends early is the client's error", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const bodies = new HeldBytes(100);
  const { pieces, respond } = customRoute(100, bodies);
  const [still, lively] = [sending(), sending()];
  const cut = respond(still.request);
  await still.write("x".repeat(50));
  vi.advanceTimersByTime(2000);
  const received = respond(lively.request);
  await lively.write("x".repeat(60));
  expect(await cut).toBe("400 The request body was not sent in time");
  await lively.end();
  expect(await received).toBe("200 received");
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error("aborted")) });
  const broken = new Request("http://localhost/", { method: "POST", body, duplex: "half" });
  expect(await respond(new HonoRequest(broken))).toBe("400 The request body ended before it was complete");
  expect([pieces, bodies.size]).toEqual([[60], 0]);
});

test("a body in chunks of a byte takes no more memory than in one", async () => {
  const bodies = new HeldBytes(200);
  const [tiny, other] = [sending(), sending()];
  const read = bodyOf(tiny.request, { maxBody: 100, bodies, complete, parsed });
  const text = JSON.stringify("x".repeat(98));
  for (const byte of text) await tiny.write(byte);
  const refused = outcomeOf(bodyOf(other.request, { maxBody: 200, bodies, complete, parsed }));
  await other.write("x".repeat(101));
  expect(await refused).toMatchObject({ status: 503 });
  await tiny.end();
  expect(await read).toHaveLength(98);
});

test("the body of a client that left while it waited is not parsed", async () => {
  const left = new AbortController();
  const headers = { "content-type": "application/json", "content-length": "20000" };
  const init = { method: "POST", body: "[".repeat(20_000), headers, signal: left.signal };
  const request = new HonoRequest(new Request("http://localhost/", init));
  const bodies = new HeldBytes(100_000);
  const read = outcomeOf(bodyOf(request, { maxBody: 60_000, bodies, complete, parsed }));
  left.abort();
  expect(await read).toMatchObject({ code: "client-gone" });
  expect(bodies.size).toBe(0);
});

test("complete bodies that wait to be parsed have a bound of their own", async () => {
  const bounds = {
    maxBody: 60_000,
    bodies: new HeldBytes(100_000),
    complete: new BodyQueue(40_000),
    parsed,
  };
  const read = () => outcomeOf(bodyOf(whole(20_000), bounds));
  expect(await Promise.all([read(), read()])).toEqual(["read", "read"]);
  expect(await Promise.all([read(), read(), read()])).toEqual([
    "read",
    "read",
    expect.objectContaining({ code: "bodies-limit", status: 503 }),
  ]);
  expect(await read()).toBe("read");
});

test("clients take turns to have their bodies parsed", async () => {
  const bounds = { maxBody: 60_000, bodies: new HeldBytes(1_000_000), complete, parsed };
  const ended: string[] = [];
  const read = (client: string) => bodyOf(whole(20_000), bounds, client).then(() => ended.push(client));
  await Promise.all(["eve", "eve", "eve", "eve", "ada", "ada"].map(read));
  expect(ended).toEqual(["eve", "ada", "eve", "ada", "eve", "eve"]);
});

test("when complete bodies do not fit, the client with the most bytes loses its newest one", async () => {
  const queue = new BodyQueue(100);
  const wait = (client: string, bytes: number) => outcomeOf((async () => queue.turn(client, bytes))());
  const refused = expect.objectContaining({ code: "bodies-limit", status: 503 });
  const outcomes = [
    wait("eve", 30),
    wait("eve", 30),
    wait("eve", 30),
    wait("ada", 50),
    wait("ada", 20),
    wait("eve", 17),
    wait("ada", 17),
  ];
  expect(await Promise.all(outcomes)).toEqual(["read", refused, refused, "read", refused, "read", refused]);
  expect(await wait("ada", 1000)).toBe("read");
});

test("of unfinished bodies, those of the client that holds most are cut, the largest first", () => {
  const bodies = new HeldBytes(100);
  const cuts: string[] = [];
  const hold = (client: string, bytes: number) =>
    bodies.hold(client, () => void cuts.push(`${client} ${bytes}`)).now(bytes);
  hold("eve", 20);
  hold("eve", 30);
  hold("eve", 15);
  hold("ada", 40);
  hold("bob", 30);
  expect(cuts).toEqual(["eve 30", "ada 40"]);
});

test("a body that a route keeps does not keep the bodies of other clients out", () => {
  const bodies = new HeldBytes(100, 0.1);
  const cuts: string[] = [];
  const hold = (client: string, bytes: number) => {
    const held = bodies.hold(client, () => void cuts.push(`${client} ${bytes}`));
    held.now(bytes);
    held.complete();
    return held;
  };
  // A client alone may use all, and not more.
  const [kept] = [hold("eve", 90), hold("eve", 10), hold("eve", 1)];
  expect(cuts.splice(0)).toEqual(["eve 1"]);
  // Others have their share, up to the ceiling.
  hold("ada", 6);
  hold("ada", 5);
  hold("bob", 10);
  expect(cuts.splice(0)).toEqual(["ada 5"]);
  const growing = bodies.hold("dan", () => void cuts.push("dan"));
  growing.now(9);
  expect(cuts).toEqual([]);
  hold("cid", 1);
  expect(cuts.splice(0)).toEqual(["dan"]);
  kept.end();
  hold("eve", 70);
  expect(cuts).toEqual([]);
});

test("while bodies are received, a client beyond its share gives way to others", () => {
  const bodies = new HeldBytes(100, 0.1);
  const cuts: string[] = [];
  const start = (client: string) => bodies.hold(client, () => void cuts.push(client));
  const [eve, other, ada] = [start("eve"), start("eve"), start("ada")];
  eve.now(60);
  other.now(40);
  ada.now(5);
  expect(cuts).toEqual(["eve"]);
  ada.now(60);
  expect(cuts).toEqual(["eve"]);
  ada.now(61);
  expect(cuts).toEqual(["eve", "ada"]);
});

const noRoom = expect.objectContaining({ code: "bodies-limit" });

test("parsed values count until their handler has them; a single one always fits", () => {
  const values = new BodyMemory(100, 0.1);
  const [one, other] = [whole(10), whole(10)];
  values.begin(one, "ada", 1000);
  expect(() => values.begin(other, "ada", 1)).toThrow(noRoom);
  values.end(other);
  expect(() => values.begin(other, "bob", 1)).toThrow(noRoom);
  values.end(one);
  values.end(one);
  values.begin(one, "ada", 60);
  values.begin(other, "ada", 40);
  expect(() => values.begin(whole(10), "ada", 1)).toThrow(noRoom);
});

test("the parsed values of one client leave others their share, up to a ceiling", () => {
  const values = new BodyMemory(100, 0.1);
  const begin = (client: string, bytes: number) => {
    const request = whole(10);
    values.begin(request, client, bytes);
    return request;
  };
  begin("eve", 100);
  const first = begin("ada", 6);
  expect(() => begin("ada", 5)).toThrow(noRoom);
  begin("ada", 4);
  begin("bob", 10);
  expect(() => begin("cid", 6)).toThrow(noRoom);
  begin("cid", 5);
  expect(() => begin("dan", 1)).toThrow(noRoom);
  values.end(first);
  begin("dan", 1);
  expect(() => begin("eve", 1)).toThrow(noRoom);
});

test("many short bodies that arrive together are parsed in several turns of the event loop", async () => {
  let turn = 0;
  const ticking = setInterval(() => void turn++);
  const bounds = { maxBody: 20_000, bodies: new HeldBytes(20_000_000), complete, parsed };
  const turns = await Promise.all(
    Array.from({ length: 300 }, async (_, body) => {
      const { request, write, end } = sending();
      const read = bodyOf(request, bounds);
      await write(`{${Array.from({ length: 1200 }, (_, n) => `"${body}-${n}":1`)}}`);
      await end();
      await read;
      return turn;
    }),
  );
  clearInterval(ticking);
  expect(new Set(turns).size).toBeGreaterThan(1);
});

test("a body has a sequence of fields for each 80 bytes of its limit", async () => {
  const read = async (fields: number) => {
    const { request, write, end } = sending();
    const body = bodyOf(request, { maxBody: 80_000, bodies: new HeldBytes(80_000), complete, parsed });
    const outcome = body.catch((error: unknown) => error);
    await write(JSON.stringify(fieldsOf(fields)));
    await end();
    return outcome;
  };
  expect(await read(1000)).toEqual(fieldsOf(1000));
  expect(await read(1001)).toMatchObject({
    code: "too-many-fields",
    status: 413,
    message: expect.stringContaining("more than 1000 different sequences"),
  });
});

function fieldsOf(count: number) {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`a field of a body, number ${n}`, 1]));
}

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
    const body = bodyOf(request, {
      maxBody: length + 2,
      bodies: new HeldBytes(1_000_000),
      complete,
      parsed,
    });
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
