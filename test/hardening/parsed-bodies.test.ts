// The values of long bodies take many times the memory of their text: those that wait for `authorize` are bounded together.
import type { Authorize } from "@andante/server";
import { expect, test } from "vitest";
import { call } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";

test("values that wait for `authorize` count until their handler has them", async () => {
  const decided = Promise.withResolvers<boolean>();
  let waiting = 0;
  const authorize: Authorize = ({ resource }) => {
    if (resource.conversationId === undefined) return true;
    waiting += 1;
    return decided.promise;
  };
  const server = await serveForTest({ auth: provider(), authorize });
  const headers = { "content-type": "application/json", ...bearer(await tokenFor("ada")) };
  const send = (input: string) =>
    call(`${server.url}/workflows/sum/execute`, {
      method: "POST",
      headers,
      body: `{"options":{"conversationId":"c"},"input":${input}}`,
    });
  // An estimate of 120 MB; there are 256 MiB for all of them.
  const large = `[${"{},".repeat(1_300_000)}{}]`;
  const first = [send(large), send(large)];
  await expect.poll(() => waiting).toBe(2);
  const { status, headers: sent } = await send(large);
  expect([status, sent.get("retry-after")]).toEqual([503, "1"]);
  // Smaller ones fit beside them.
  const small = send(JSON.stringify({ a: 1, text: "x".repeat(100_000) }));
  await expect.poll(() => waiting).toBe(3);
  decided.resolve(true);
  for (const { status } of await Promise.all(first)) expect(status).toBe(400);
  expect((await small).status).toBe(200);
  expect((await send(large)).status).toBe(400);
});
