// Limits and shares of users hold over MCP and A2A as over HTTP.
import { expect, test } from "vitest";
import { a2aClient } from "../a2a/client.ts";
import { gates } from "../support/gates.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer, provider, tokenFor } from "../support/tokens.ts";
import { mcpClient } from "./client.ts";

/** A call of the workflow `gated`: the refusal, or undefined where it is started. */
type Call = (url: string, headers: Record<string, string>, door: string) => Promise<unknown>;

const overMcp: Call = async (url, headers, door) =>
  (await mcpClient(url, { headers }).call("gated", { door })).error;
const overA2a: Call = async (url, headers, door) => {
  const { error } = await a2aClient(url, "gated", headers).say(
    [{ data: { door } }],
    {},
    { returnImmediately: true },
  );
  return error;
};

test.each([
  {
    name: "MCP",
    call: overMcp,
    code: -32_603,
    details: (code: string) => ({ code, retryAfter: expect.any(Number) }),
  },
  {
    name: "A2A",
    call: overA2a,
    code: -32_000,
    details: (code: string) => [
      expect.objectContaining({ reason: code.replaceAll("-", "_").toUpperCase(), domain: "andante" }),
    ],
  },
])("over $name a user at its share gets the protocol's error, and another one a place", async (protocol) => {
  const { url } = await serveForTest({
    auth: provider(),
    limits: { running: 4, userShare: 0.5 },
    mcp: { expose: ["gated"], wait: 0 },
    a2a: { expose: ["gated"] },
  });
  const start = async (user: string, door: string) =>
    protocol.call(url, bearer(await tokenFor(user)), `${protocol.name}-${door}`);
  const refused = (code: string) => ({ code: protocol.code, data: protocol.details(code) });
  for (const door of ["first", "others", "others", "others"])
    expect(await start("ada", door)).toBeUndefined();
  expect(await start("bob", "bob")).toMatchObject(refused("capacity"));
  gates.open(`${protocol.name}-first`);
  await expect.poll(() => start("ada", "more")).toMatchObject(refused("user-share"));
  expect(await start("bob", "bob")).toBeUndefined();
});
