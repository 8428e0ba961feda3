// Hints between processes fit into notifications, and come back unchanged.
import { expect, test } from "vitest";
import { readHint, writeHint, writeIds } from "./hint.ts";

const ids = (count: number, length = 36) =>
  Array.from({ length: count }, (_, index) => String(index).padStart(length, "é"));

test.each([0, 1, 100, 150])("%i executions are named, none twice", (count) => {
  const given = ids(count);
  const hints = writeIds("me", given);
  for (const hint of hints) expect(Buffer.byteLength(hint)).toBeLessThan(8_000);
  const read = hints.flatMap((text) => {
    const { hint } = readHint(text) ?? {};
    return hint?.kind === "wrote" ? (hint.executionIds ?? []) : [];
  });
  expect(read).toEqual(given);
});

test("too many, or one whose name is too long, are not named", () => {
  for (const given of [ids(5_000), ids(1, 8_000)]) {
    const [hint, ...others] = writeIds("me", given);
    expect(others).toEqual([]);
    expect(readHint(hint ?? "")).toEqual({ sender: "me", hint: { kind: "wrote" } });
  }
});

test("a stop, a greeting and an offer come back; anything else is not a hint", () => {
  const stop = { kind: "stop", executionId: 'a"b' } as const;
  expect(readHint(writeHint("me", stop))).toEqual({ sender: "me", hint: stop });
  for (const kind of ["joined", "offered"] as const)
    expect(readHint(writeHint("me", { kind }))).toEqual({ sender: "me", hint: { kind } });
  for (const text of ["", "no JSON", "1", "null", '{"kind":"wrote"}', '{"sender":"me","kind":"other"}'])
    expect(readHint(text)).toBeUndefined();
});
