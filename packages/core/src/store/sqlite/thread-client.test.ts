// A database thread that is being closed: what comes meanwhile and later is refused with the reason, and closing ends.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import { withTimeout } from "../../values/with-timeout.ts";
import { ThreadClient } from "./thread-client.ts";

const folder = mkdtempSync(path.join(tmpdir(), "andante-client-"));
afterAll(() => rmSync(folder, { recursive: true }));

const lost = (reason: Error) => {
  throw reason;
};
const closed = { code: "store-unavailable", cause: { message: "the store is closed" } };

test("a call that comes while it closes is refused; those before it are served", async () => {
  const client = await ThreadClient.open({ path: ":memory:", maxBytes: null, role: "both", lost });
  const before = client.call("outline", "d");
  const closing = client.close();
  await expect(inTime(client.call("outline", "d"), "a refusal")).rejects.toMatchObject(closed);
  expect(await inTime(before, "a reply")).toBeUndefined();
  await inTime(closing, "the end");
});

const missing = () =>
  ThreadClient.onDemand({ path: path.join(folder, "missing.db"), maxBytes: null, role: "read", lost });

test("one that nobody has called is closed at once, and says so", async () => {
  const client = missing();
  await inTime(client.close(), "the end");
  await expect(inTime(client.call("state", "e"), "a refusal")).rejects.toMatchObject(closed);
});

test("one that cannot be started refuses the call, and does not keep its end waiting", async () => {
  const client = missing();
  const refused = expect(inTime(client.call("state", "e"), "a refusal")).rejects.toMatchObject({
    code: "store-unavailable",
  });
  // Far less than a thread has that does not hear that it is to close.
  const { timedOut } = await withTimeout(client.close(), 3000);
  expect(timedOut).toBe(false);
  await refused;
});
