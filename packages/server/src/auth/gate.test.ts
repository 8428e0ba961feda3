import { createLogger, memoryStore } from "@andante/core";
import { expect, test, vi } from "vitest";
import { createApp } from "../app.ts";
import { createGate } from "./gate.ts";

const logger = createLogger({ level: "silent" });
const auth = { type: "keys", verifyToken: () => ({ id: "ada" }) };

test("the log lists the public routes at start", async () => {
  const info = vi.spyOn(logger, "info");
  const publicRoutes = ["GET /doc", "POST /workflows/:id/execute"];
  const app = createApp({
    store: memoryStore(),
    logger,
    auth: { ...auth, defaultPrivate: true, publicRoutes },
  });
  await app.close({ grace: 0 });
  const known = { provider: "keys", public: ["POST /workflows/:id/execute", "GET /doc"] };
  expect(info).toHaveBeenCalledWith(known, "authentication is on");
  info.mockRestore();
});

test("without a provider no route requires authentication", () => {
  const gate = createGate(undefined, logger);
  expect([gate.enabled, gate.requiresAuth("POST", "/workflows/a/execute", "protected")]).toEqual([
    false,
    false,
  ]);
});

test.each([
  [{}, "public", false],
  [{}, "protected", true],
  [{ defaultPrivate: true }, "public", true],
  [{ publicRoutes: ["GET /a"] }, "protected", false],
  [{ defaultPrivate: true, publicRoutes: ["GET /a"] }, "public", false],
  [{ defaultPrivate: true, publicRoutes: ["GET /b"] }, "public", true],
] as const)("with %j a token for a %s route is needed: %s", (settings, access, needed) => {
  const gate = createGate({ ...auth, ...settings }, logger);
  expect(gate.requiresAuth("GET", "/a", access)).toBe(needed);
  expect(gate.requiresAuth("HEAD", "/a", access)).toBe(needed);
});

test("a broken public route stops the start", () => {
  const store = memoryStore();
  expect(() => createApp({ store, logger, auth: { ...auth, publicRoutes: ["/health"] } })).toThrow(
    "Option publicRoutes",
  );
});
