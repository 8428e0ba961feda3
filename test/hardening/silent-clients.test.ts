// A socket client that answers no ping is gone, even if its connection is open: it is cut off, and the others stay.
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { serveForTest } from "../support/serve-for-test.ts";

/** Milliseconds between two pings. */
const period = 30_000;

afterEach(() => void vi.useRealTimers());

test.each(["/ws", "/ws/logs", "/ws/observability"])(
  "%s cuts off a client that has not answered by the next ping",
  async (path) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const server = await serveForTest();
    const address = server.url.replace("http", "ws");
    const lively = new WebSocket(`${address}/ws`);
    const silent = new WebSocket(address + path, { autoPong: false });
    await Promise.all([once(lively, "message"), once(silent, "open")]);
    const seen = { lively: eventsOf(lively), silent: eventsOf(silent) };

    await nextOf([lively, silent], period);
    // Its echo comes after its pong was read; the silent client has all the time until the next ping.
    await echoOf(lively, "1");
    vi.advanceTimersByTime(period - 1);
    await echoOf(lively, "2");
    expect(seen.silent).toEqual(["ping"]);

    await nextOf([lively, silent], 1);
    expect(seen).toEqual({ lively: ["ping", "ping"], silent: ["ping", "closed 1006"] });
    expect(await echoOf(lively, "3")).toEqual({ type: "ECHO", success: true, data: 3 });
  },
);

/** The pings that reach a client, and its end. */
function eventsOf(client: WebSocket): string[] {
  const seen: string[] = [];
  client.on("ping", () => seen.push("ping")).on("close", (code) => seen.push(`closed ${code}`));
  return seen;
}

/** Lets time pass and waits for the next message of each. */
async function nextOf(clients: readonly WebSocket[], milliseconds: number): Promise<void> {
  const next = clients.map((client) => Promise.race([once(client, "ping"), once(client, "close")]));
  vi.advanceTimersByTime(milliseconds);
  await Promise.all(next);
}

async function echoOf(client: WebSocket, text: string): Promise<unknown> {
  const echo = once(client, "message");
  client.send(text);
  return JSON.parse(String((await echo)[0]));
}
