// The JSON in a model's text: plain, or in the fence that models like to put around it.
import { expect, test } from "vitest";
import { readObject } from "./ask-for-object.ts";

test.each(['{"a":1}', ' \n{"a":1} ', '```\n{"a":1}\n```', '```json\n{"a":1}\n```', '```json{"a":1}```\n'])(
  "%j is read",
  (text) => {
    expect(readObject(text)).toEqual({ value: { a: 1 } });
  },
);

test.each([
  "",
  "no",
  "`",
  "```",
  "````",
  "``````",
  "```json```",
  '```{"a":1}',
  '{"a":1}```',
  '```{"a":1}xyz',
  'xyz{"a":1}```',
])("%j is not JSON", (text) => {
  expect(readObject(text)).toBeUndefined();
});
