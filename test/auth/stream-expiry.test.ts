// An event stream that only follows ends with its token; one that does work does not.
import type { AuthProvider } from "@andante/server";
import { expect, test } from "vitest";
import { gates } from "../support/gates.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { bearer } from "../support/tokens.ts";

/** Tokens of one user: "endless" has no end, "strange" has one that is not a time, all others end after 50 ms. */
const auth: AuthProvider = {
  type: "sessions",
  verifyToken: () => ({ id: "ada" }),
  expiresAt: (token) => {
    if (token === "endless") return undefined;
    return token === "strange" ? Number.NaN : Date.now() + 50;
  },
};

test("a followed execution is left when the token expires, and followed on with another", async () => {
  const server = await serveForTest({ auth });
  const started = await server.stream("/workflows/gated/stream", { input: { door: "end" } }, bearer("short"));
  const { executionId } = await started.until("workflow-start");
  await gates.arrival("end");
  const path = `/workflows/gated/executions/${executionId}/stream`;
  const short = await server.stream(path, undefined, bearer("short"));
  await expect(short.until("workflow-result")).rejects.toThrow("terminated");
  const endless = await server.stream(`${path}?after=${short.ids.at(-1) ?? 0}`, undefined, bearer("endless"));
  gates.open("end");
  expect(await endless.until("workflow-result")).toMatchObject({ status: "completed" });
  // The request that started it outlived its token, and saw the end.
  expect(await started.until("workflow-result")).toMatchObject({ status: "completed" });
});

test("so is the stream of changes of all executions, and its place is free again", async () => {
  const server = await serveForTest({ auth, limits: { streams: 1 } });
  const changes = await server.stream("/api/changes", undefined, bearer("short"));
  await expect(changes.rest()).rejects.toThrow("terminated");
  const again = await server.stream("/api/changes", undefined, bearer("endless"));
  expect(again.status).toBe(200);
  await again.drop();
});

test("an end that is not a time is refused, not believed", async () => {
  const server = await serveForTest({ auth });
  const { status, text } = await server.get("/api/changes", bearer("strange"));
  expect([status, text]).toEqual([401, expect.stringContaining("Invalid token: it could not be verified")]);
});
