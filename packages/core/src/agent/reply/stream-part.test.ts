// Parts of a streamed reply as callers see them.
import { expect, test } from "vitest";
import { viewPart } from "./stream-part.ts";

test.each(["file", "reasoning-file"] as const)(
  "a part of type %s holds its type and its bytes, and nothing else of the file",
  (type) => {
    const file = { mediaType: "image/png", base64: "aGk=", uint8Array: new Uint8Array([104, 105]) };
    expect(viewPart({ type, file })).toEqual({ type, file: { mediaType: "image/png", base64: "aGk=" } });
  },
);

test("deltas have their text under the contract's name, too; the provider's internals are left out", () => {
  for (const type of ["text-delta", "reasoning-delta"] as const)
    expect(viewPart({ type, id: "t", text: "hi" })).toEqual({ type, id: "t", text: "hi", delta: "hi" });
  expect(viewPart({ type: "start-step", request: { body: "secret" }, warnings: [] })).toEqual({
    type: "start-step",
    warnings: [],
  });
  expect(viewPart({ type: "raw", rawValue: "secret" })).toBeUndefined();
  expect(viewPart(Object({ type: "ping" }))).toBeUndefined();
  expect(viewPart({ type: "error", error: new Error("secret") })).toEqual({
    type: "error",
    error: "The reply failed",
  });
  const response = { id: "r", timestamp: new Date(0), modelId: "m" };
  const step = { type: "finish-step", finishReason: "stop", usage: {} };
  const internals = { headers: { cookie: "secret" }, body: "secret" };
  expect(viewPart(Object({ ...step, response: { ...response, ...internals } }))).toEqual({
    ...step,
    response,
  });
  expect(viewPart({ type: "text-start", id: "t" })).toEqual({ type: "text-start", id: "t" });
});
