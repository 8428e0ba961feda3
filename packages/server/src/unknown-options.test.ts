// Unknown options are refused by name, before the store is opened.
import { memoryStore } from "@andante/core";
import { expect, test } from "vitest";
import { createApp } from "./app.ts";
import { createJWT, jwtAuth } from "./auth/jwt.ts";
import { serve } from "./serve.ts";

/** Calls a function with untyped arguments, as plain JavaScript does. */
const call = (target: (...given: never[]) => unknown, ...given: unknown[]) =>
  Reflect.apply(target, undefined, given);
const store = memoryStore();
const secret = "a secret of more than thirty-two bytes";

test.each<[string, () => unknown]>([
  ['serve: unknown option "prot"; did you mean "port"?', () => call(serve, { store, prot: 80 })],
  ['serve: unknown option "host"; did you mean "hostname"?', () => call(serve, { store, host: "::1" })],
  ['createApp: unknown option "prot"; the options are', () => call(createApp, { store, prot: 80 })],
  ['createApp: unknown option "port"; the options are', () => call(createApp, { store, port: 80 })],
  [
    'limits: unknown option "bdy"; did you mean "body"?',
    () => call(createApp, { store, limits: { bdy: 1 } }),
  ],
  [
    'limits: unknown option "socket"; did you mean "sockets"?',
    () => call(serve, { store, limits: { socket: 1 } }),
  ],
  [
    'cors: unknown option "origins"; did you mean "origin"?',
    () => call(createApp, { store, cors: { origins: "*" } }),
  ],
  [
    'jwtAuth: unknown option "publicRoute"; did you mean "publicRoutes"?',
    () => call(jwtAuth, { secret, publicRoute: [] }),
  ],
  [
    'jwtAuth, verifyOptions: unknown option "algorithm"; did you mean "algorithms"?',
    () => call(jwtAuth, { secret, verifyOptions: { algorithm: "HS256" } }),
  ],
  [
    'createJWT: unknown option "expires"; did you mean "expiresIn"?',
    () => call(createJWT, {}, secret, { expires: "1h" }),
  ],
])("%s", async (message, attempt) => {
  await expect(async () => attempt()).rejects.toThrow(message);
});

test.each([
  ["limits", null, "expected an object"],
  ["limits", [], "expected an object"],
  ["cors", true, "expected an object, or false to leave it to the host"],
  ["cors", null, "expected an object, or false to leave it to the host"],
  ["tracing", null, "expected an object, or false for no traces"],
])("%s: %j is refused, and the error names the expected type", async (option, given, problem) => {
  for (const start of [createApp, serve]) {
    await expect(async () => call(start, { store, [option]: given })).rejects.toThrow(
      `Option ${option}: ${problem}`,
    );
  }
});

test.each([
  ["body", 1],
  ["customBody", 1],
  ["sockets", 0],
  ["streams", 0],
])("limits.%s has to be a number of %i or more", (limit, least) => {
  for (const value of [least - 1, Number.NaN, "4mb", null]) {
    expect(() => call(createApp, { store, limits: { [limit]: value } })).toThrow(
      `Option limits.${limit}: expected a number of ${least} or more`,
    );
  }
});
