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
  expect(viewPart({ type: "text-delta", id: "t", text: "hi" })).toMatchObject({ text: "hi", delta: "hi" });
  expect(viewPart({ type: "reasoning-delta", id: "r", text: "hm" })).toMatchObject({
    text: "hm",
    delta: "hm",
  });
  expect(viewPart({ type: "start-step", request: { body: "secret" }, warnings: [] })).toEqual({
    type: "start-step",
    warnings: [],
  });
  expect(viewPart({ type: "raw", rawValue: "secret" })).toBeUndefined();
  expect(JSON.stringify(viewPart({ type: "error", error: new Error("secret") }))).not.toContain("secret");
  expect(viewPart({ type: "text-start", id: "t" })).toEqual({ type: "text-start", id: "t" });
});
