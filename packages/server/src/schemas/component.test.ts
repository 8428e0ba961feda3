import { expect, test } from "vitest";
import { z } from "zod";
import { fields, optionsOf } from "./component.ts";

const body = z.object({ options: optionsOf({ userId: z.string(), tags: z.array(z.string()) }) });

test.each([{ options: null }, { options: undefined }, {}])("%j gives no options", (given) => {
  expect(body.parse(given).options).toBeUndefined();
});

test("null in the place of an option is nothing given; null inside of one is refused", () => {
  expect(body.parse({ options: { userId: null, tags: ["a"] } }).options).toEqual({ tags: ["a"] });
  expect(body.safeParse({ options: { tags: [null] } }).success).toBe(false);
});

test("inherited properties are not given", () => {
  expect(body.parse({ options: Object.create({ userId: "u1" }) }).options).toEqual({});
});

test("only known options are looked at, however many others there are", () => {
  const options = new Proxy(
    { userId: "u1", another: 1 },
    { ownKeys: () => expect.fail("all keys were listed") },
  );
  expect(body.parse({ options }).options).toEqual({ userId: "u1" });
});

test.each([[[]], ["text"], [7], [true]])("%j is refused", (options) => {
  const result = body.safeParse({ options });
  expect(result.error?.issues).toMatchObject([{ path: ["options"], code: "invalid_type" }]);
});

test("any object is taken as it is, without `__proto__`; other values are refused in Zod's words", () => {
  const given: unknown = JSON.parse('{"a":{"b":1},"__proto__":{"isAdmin":true}}');
  const taken = fields().parse(given);
  expect(taken).toBe(given);
  expect(Object.keys(taken)).toEqual(["a"]);
  for (const value of ["text", 7, true, null, [1]])
    expect(fields().safeParse(value).error?.issues).toMatchObject([
      { message: z.record(z.string(), z.unknown()).safeParse(value).error?.issues[0]?.message },
    ]);
});
