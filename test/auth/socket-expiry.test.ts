// A socket ends with its token.
import { once } from "node:events";
import type { AuthProvider } from "@andante/server";
import { expect, test } from "vitest";
import { serveForTest } from "../support/serve-for-test.ts";
import { refusal, SocketClient } from "../support/socket-client.ts";
import { bearer } from "../support/tokens.ts";

const ending = async ({ socket }: SocketClient) => {
  const [code, reason]: unknown[] = await once(socket, "close");
  return [code, String(reason)];
};
/** A provider whose tokens end after so many milliseconds. */
const sessions = (
  milliseconds: number | undefined,
  webSocket: "open" | "protect" = "protect",
): AuthProvider => ({
  type: "sessions",
  webSocket,
  verifyToken: (token) => ({ id: token }),
  expiresAt: (_, user) =>
    user.id === "endless" || milliseconds === undefined ? undefined : Date.now() + milliseconds,
});

test.each(["/ws", "/ws/logs", "/ws/observability"])(
  "%s is closed with 4401 when its token expires",
  async (path) => {
    const server = await serveForTest({ auth: sessions(50) });
    const client = await SocketClient.connect(server, path, bearer("ada"));
    expect(await ending(client)).toEqual([4401, "Token expired"]);
  },
);

test("a provider of one's own sets the time, also for ?token= and where no token is needed", async () => {
  const server = await serveForTest({ auth: sessions(20, "open") });
  expect(await ending(await SocketClient.connect(server, "/ws?token=ada"))).toEqual([4401, "Token expired"]);
  expect(await ending(await SocketClient.connect(server, "/ws", bearer("ada")))).toEqual([
    4401,
    "Token expired",
  ]);
});

test("one that does not end, and one that ends in a month, stay", async () => {
  const month = 31 * 24 * 3600 * 1000;
  expect(month).toBeGreaterThan(2 ** 31);
  const server = await serveForTest({ auth: sessions(month) });
  for (const token of ["endless", "ada"]) {
    const client = await SocketClient.connect(server, `/ws?token=${token}`);
    expect(await client.next()).toMatchObject({ type: "CONNECTION_TEST" });
    client.send("still there");
    expect(await client.next()).toMatchObject({ type: "ECHO", data: "still there" });
  }
});

test("a provider that does not know the time is refused, not believed", async () => {
  const server = await serveForTest({ auth: sessions(Number.NaN) });
  const { status, body } = await refusal(server, "/ws?token=ada");
  expect([status, body.error]).toEqual([401, "Invalid token: it could not be verified"]);
});
