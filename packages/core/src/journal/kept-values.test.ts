// Long values are written once, whichever event repeats them.
import { expect, test } from "vitest";
import type { NewStoredEvent } from "../store/stored-event.ts";
import { KeptValues } from "./kept-values.ts";

const long = (letter: string) => JSON.stringify(letter.repeat(300));

function event(value: string | null): NewStoredEvent {
  return {
    type: "step-start",
    timestamp: 1,
    path: "a",
    stepIndex: 0,
    stepType: "andThen",
    value,
    detail: null,
  };
}

const valuesOf = (written: ReturnType<KeptValues["write"]>) =>
  written.map((events) => events.map(({ value }) => value));

test("a value of the input is that of event 0", () => {
  const values = new KeptValues(long("i"));
  expect(valuesOf(values.write([event(long("i")), event(null)]))).toEqual([[{ sameAs: 0 }, null], []]);
});

test("a value of the same write counts back, also from the following events", () => {
  const values = new KeptValues(undefined);
  const written = values.write([event(long("a")), event("1")], [event(long("a")), event(long("b"))]);
  expect(valuesOf(written)).toEqual([
    [long("a"), "1"],
    [{ sameAs: -2 }, long("b")],
  ]);
});

test("a value that was recorded has the number of its event, the first of them", () => {
  const values = new KeptValues(undefined);
  values.recorded([event("1"), event(long("a"))], 7);
  values.recorded([event(long("a"))], 9);
  expect(valuesOf(values.write([event(long("a"))]))).toEqual([[{ sameAs: 8 }], []]);
});

test("short values are written as they are", () => {
  const values = new KeptValues('"short"');
  values.recorded([event('"short"')], 1);
  expect(valuesOf(values.write([event('"short"')]))).toEqual([['"short"'], []]);
});

test("only the newest of many are remembered", () => {
  const values = new KeptValues(undefined);
  for (let number = 1; number <= 65; number++) values.recorded([event(long(`${number}-`))], number);
  expect(valuesOf(values.write([event(long("1-")), event(long("2-"))]))).toEqual([
    [long("1-"), { sameAs: 2 }],
    [],
  ]);
});
