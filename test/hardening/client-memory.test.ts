// The memory for bodies and messages is counted by client: one that fills it does not keep others out.
import { once } from "node:events";
import { createWorkflow } from "@andante/core";
import type { Authorize } from "@andante/server";
import { afterEach, expect, test, vi } from "vitest";
import { z } from "zod";
import { BodyMemory } from "../../packages/server/src/request/body-memory.ts";
import { HeldBytes } from "../../packages/server/src/request/held-bytes.ts";
import { gates } from "../support/gates.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { frame, openRaw, write } from "./raw-socket.ts";

/** Small bounds: a client has half of them, and the ceiling is 125 000 bytes. */
vi.mock(import("../../packages/server/src/bounds.ts"), async (load) => {
  const original = await load();
  const boundsOf: typeof original.boundsOf = (limits, trustProxy) => {
    const { bounds, ofAndante } = original.boundsOf(limits, trustProxy);
    const small = {
      bodies: new HeldBytes(100_000, 0.5),
      parsed: new BodyMemory(100_000, 0.5),
      unfinished: new HeldBytes(100_000),
    };
    return { bounds: { ...bounds, ...small }, ofAndante };
  };
  return { ...original, boundsOf };
});

afterEach(() => void vi.useRealTimers());

const [ada, eve] = [bearer(await tokenFor("ada")), bearer(await tokenFor("eve"))];
/** Takes twice its size when it is parsed. */
const text = (bytes: number) => "x".repeat(bytes);

test("parsed bodies of a user that wait for `authorize` leave room for another user", async () => {
  const decided = Promise.withResolvers<boolean>();
  let waiting = 0;
  const authorize: Authorize = ({ resource }) => {
    if (resource.conversationId === undefined) return true;
    waiting += 1;
    return decided.promise;
  };
  const server = await serveForTest({ auth: provider(), authorize });
  const send = async (headers: Record<string, string>) => {
    const body = { input: { a: 1, text: text(20_000) }, options: { conversationId: "c" } };
    return (await server.post("/workflows/sum/execute", body, headers)).status;
  };
  const first = [send(eve), send(eve)];
  await expect.poll(() => waiting).toBe(2);
  expect(await send(eve)).toBe(503);
  const other = send(ada);
  await expect.poll(() => waiting).toBe(3);
  decided.resolve(true);
  expect(await Promise.all([...first, other])).toEqual([200, 200, 200]);
});

test("a parsed body does not count any more while its handler runs", async () => {
  const held = createWorkflow({ id: "held", input: z.string() }).andThen({
    id: "wait",
    execute: async () => {
      await gates.pass("client-memory-handler");
      return "done";
    },
  });
  const server = await serveForTest({ workflows: { held } });
  const send = async () => (await server.post("/workflows/held/execute", { input: text(45_000) })).status;
  const first = send();
  await gates.arrival("client-memory-handler");
  const second = send();
  await expect.poll(() => gates.arrivals.get("client-memory-handler")).toBe(2);
  gates.open("client-memory-handler");
  expect(await Promise.all([first, second])).toEqual([200, 200]);
});

test("bodies of a user that a custom route keeps leave room for another user", async () => {
  const door = "client-memory-route";
  const server = await serveForTest({
    auth: provider(),
    configureApp: (app) =>
      app.post("/own/hold", async (http) => {
        await http.req.text();
        await gates.pass(door);
        return http.text("received");
      }),
  });
  const send = async (headers: Record<string, string>, bytes: number) =>
    (await server.post("/own/hold", text(bytes), headers)).status;
  const first = [send(eve, 49_000), send(eve, 49_000)];
  await expect.poll(() => gates.arrivals.get(door)).toBe(2);
  expect(await send(eve, 20_000)).toBe(503);
  const other = send(ada, 20_000);
  await expect.poll(() => gates.arrivals.get(door)).toBe(3);
  gates.open(door);
  expect(await Promise.all([...first, other])).toEqual([200, 200, 200]);
});

test("of unfinished messages, the largest of the user with the most bytes is cut", async () => {
  // No client is slow.
  vi.useFakeTimers({ toFake: ["performance"] });
  const server = await serveForTest({ auth: provider() });
  const open = async (headers: Record<string, string>) =>
    (await openRaw(server.url, "/ws", headers)).resume();
  const [other, first, second] = [await open(ada), await open(eve), await open(eve)];
  const send = async (socket: typeof other, bytes: number) => {
    // The pong comes when the server has received all bytes before.
    const answered = once(socket, "data");
    await write(socket, Buffer.concat([frame(text(bytes), { final: false }), frame("", { opcode: 9 })]));
    await answered;
  };
  await send(other, 45_000);
  await send(first, 40_000);
  const cut = once(first, "close");
  await send(second, 30_000);
  await cut;
  expect([other.closed, second.closed]).toEqual([false, false]);
  for (const socket of [other, second]) socket.destroy();
});
