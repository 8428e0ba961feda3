// Callers' JSON Schemas never hold up the process: twelve hostile ones at once, and the event loop keeps turning.
import { expect, test } from "vitest";
import { longestTurn } from "../support/processor-time.ts";
import { dataOf, errorOf, type TestResponse } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

const server = await serveForTest();
const letters = JSON.stringify(`${"a".repeat(40)}b`);
const point = { type: "object", properties: { x: { type: "number" } }, required: ["x"] };

const doubling: Record<string, unknown> = { a0: {} };
for (let n = 1; n < 40; n++) {
  const below = { $ref: `#/$defs/a${n - 1}` };
  doubling[`a${n}`] = { allOf: [below, below] };
}
let nested: Record<string, unknown> = { pattern: "^(a+)+$" };
for (let depth = 0; depth < 30; depth++) nested = { anyOf: [nested, { not: {} }] };
// Just reading such a pattern takes tens of milliseconds.
const classes = "[\\P{L}\\p{Lu}]".repeat(70);

const hostile: Record<string, { schema: unknown; said: string; status: number }> = {
  "a pattern that backtracks": { schema: { pattern: "^(a+)+$" }, said: letters, status: 422 },
  "deep nesting around one": { schema: nested, said: letters, status: 422 },
  "a property pattern that backtracks": {
    schema: { patternProperties: { "^(a+)+$": {} } },
    said: JSON.stringify({ [JSON.parse(letters)]: 1 }),
    status: 422,
  },
  "references that multiply": { schema: { $defs: doubling, $ref: "#/$defs/a39" }, said: "1", status: 422 },
  "enums beside each other": {
    schema: { items: { not: { enum: Array.from({ length: 6000 }, (_, index) => [index]) } } },
    said: JSON.stringify(Array.from({ length: 6000 }, () => [-1])),
    status: 422,
  },
  "patterns that are slow to read": {
    schema: { allOf: Array.from({ length: 55 }, (_, index) => ({ pattern: classes + index })) },
    said: "1",
    status: 400,
  },
};

test.each(["object", "stream-object"])(
  "twelve hostile schemas at once: %s",
  async (how) => {
    const ask = (input: string, schema: unknown) => server.post(`/agents/object/${how}`, { input, schema });
    // Modules loaded and compiled at the first use do not count.
    await ask('{"x":1}', point);
    const kinds = Object.values(hostile);
    const sent = Array.from({ length: 12 }, (_, index) => kinds[index % kinds.length]).filter(Boolean);
    const ended: { status: number | undefined; response: TestResponse }[] = [];
    let before = 0;
    const longest = await longestTurn(async () => {
      const all = sent.map(async (request) => {
        const response = await ask(request?.said ?? "", request?.schema);
        ended.push({ status: request?.status, response });
      });
      // An ordinary one among them does not wait until each of them has had its time.
      expect((await ask('{"x":1}', point)).text).toContain('"x":1');
      before = ended.length;
      await Promise.all(all);
    });
    // Without a limit the event loop is blocked for seconds. The rest is our own work on thirteen requests.
    expect(longest).toBeLessThan(1000);
    expect(before).toBeLessThan(12);
    for (const { status, response } of ended) {
      if (status === 400) expect(errorOf(response, 400)).toMatch(/could not be checked within 100 ms$/);
      else if (how === "object")
        expect(errorOf(response, 422)).toMatch(/could not be checked within 100 ms$/);
      else expect(response.text).toMatch(/could not be checked within 100 ms"}\n\n$/);
    }
  },
  90_000,
);

test("a hundred ordinary schemas at once are all checked", async () => {
  const ask = () => server.post("/agents/object/object", { input: '{"x":1}', schema: point });
  await ask();
  const responses = await Promise.all(Array.from({ length: 100 }, ask));
  expect(responses.map((response) => dataOf(response))).toEqual(
    Array.from({ length: 100 }, () => ({ x: 1 })),
  );
});
