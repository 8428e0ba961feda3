// Rows of a journal: written and read as they are, and damaged ones refused with their place.
import { expect, test } from "vitest";
import { event } from "../../store-cases/store-cases.ts";
import { fieldsAt, numbered, readRow, readWholeRow, referenceOf, rowText } from "./journal-row.ts";

const fields = ["step-start", 5, "one", 0, "andThen", "1", "{}"];
const started = {
  ...{
    type: "step-start",
    timestamp: 5,
    path: "one",
    stepIndex: 0,
    stepType: "andThen",
    value: "1",
    detail: "{}",
  },
};

test("a row is a list of events, each a list of its fields", () => {
  const bare = { ...event("workflow-start"), timestamp: 6 };
  const text = rowText(7, [started, bare]);
  expect(JSON.parse(text)).toEqual([fields, ["workflow-start", 6, null, null, null, null, null]]);
  expect(readRow(9, text)).toEqual([
    { sequence: 8, fields },
    { sequence: 9, fields: ["workflow-start", 6, null, null, null, null, null] },
  ]);
  expect(readWholeRow(9, text)).toEqual([
    { ...started, sequence: 8 },
    { ...bare, sequence: 9 },
  ]);
  expect(numbered(7, [started, bare])).toEqual([
    { ...started, sequence: 8 },
    { ...bare, sequence: 9 },
  ]);
  expect(fieldsAt(8, 9, text)).toEqual(fields);
  expect(() => fieldsAt(7, 9, text)).toThrow("The journal is damaged at event 7: it is missing");
});

test.each([
  [0, 0],
  [7, 7],
  [-1, 8],
  [-9, 0],
])("a value that is the same as that of %i is the number of its event", (sameAs, place) => {
  const [, second] = JSON.parse(rowText(7, [started, { ...started, value: { sameAs } }]));
  expect(second[5]).toBe(place);
});

test.each([
  [9, 9],
  [10, 10],
  [-10, -1],
])("a value that refers to %i is refused", (sameAs, place) => {
  expect(() => rowText(7, [started, { ...started, value: { sameAs } }])).toThrow(
    `the value of event 9 refers to event ${place}, which is not an earlier one`,
  );
});

test("a reference is to an earlier event", () => {
  expect([referenceOf(3, 0), referenceOf(3, 2)]).toEqual([0, 2]);
  for (const place of [3, 4, -1])
    expect(() => referenceOf(3, place)).toThrow(
      `The journal is damaged at event 3: its value refers to event ${place}`,
    );
});

test("a row that refers to another one is not read as a whole", () => {
  const text = rowText(7, [{ ...started, value: { sameAs: 0 } }]);
  expect(readRow(8, text)[0]?.fields[5]).toBe(0);
  expect(() => readWholeRow(8, text)).toThrow("a value that is kept elsewhere");
});

test("a row that is not JSON, or no list of events, is damaged", () => {
  expect(() => readRow(4, "[")).toThrow("The journal is damaged at event 4: its row is not JSON");
  const problem = "The journal is damaged at event 4: its row is not a list of events";
  for (const row of ["{}", "null", "[1]", "[{}]", '["step-start"]'])
    expect(() => readRow(4, row)).toThrow(problem);
  const wrong: [number, unknown][] = [
    ...[0, 1, 2, 3, 4, 5, 6].map((index): [number, unknown] => [index, true]),
    [0, null],
    [1, null],
    [2, 1],
    [3, "1"],
    [4, 1],
    [6, 1],
  ];
  for (const [index, value] of wrong) {
    const changed = fields.map((field, at) => (at === index ? value : field));
    expect(() => readRow(4, JSON.stringify([fields, changed]))).toThrow(problem);
  }
  for (const row of [[fields.slice(0, 6)], [[...fields, null]]])
    expect(() => readRow(4, JSON.stringify(row))).toThrow(problem);
  const allowed: [number, unknown][] = [
    [2, null],
    [3, null],
    [4, null],
    [5, null],
    [5, 3],
    [6, null],
  ];
  for (const [index, value] of allowed) {
    const changed = fields.map((field, at) => (at === index ? value : field));
    expect(readRow(4, JSON.stringify([changed]))).toEqual([{ sequence: 4, fields: changed }]);
  }
});
