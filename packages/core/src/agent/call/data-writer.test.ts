// Data parts of a reply: their valid forms, and their transport.
import { expect, test } from "vitest";
import { type DataChunk, DataWriter, dataChunk } from "./data-writer.ts";

test("a part is sent as JSON holds it, with its id and its transience where it has them", () => {
  expect(dataChunk({ type: "data-progress", data: { at: new Date(0) } })).toEqual({
    type: "data-progress",
    data: { at: "1970-01-01T00:00:00.000Z" },
  });
  expect(dataChunk({ type: "data-progress", id: "p", data: undefined, transient: true })).toEqual({
    type: "data-progress",
    id: "p",
    data: null,
    transient: true,
  });
  expect(dataChunk({ type: "data-progress", data: 1, transient: false })).toStrictEqual({
    type: "data-progress",
    data: 1,
  });
});

test("a malformed part is refused, with the reason", () => {
  const type = "data-progress";
  // A tool in JavaScript may write anything.
  const wrong = (part: object) => () => Reflect.apply(dataChunk, undefined, [part]);
  expect(wrong({ type: "progress", data: 1 })).toThrow(
    'the type of a data part must begin with "data-", not be "progress"',
  );
  expect(wrong({ type: "data-", data: 1 })).toThrow("must begin with");
  expect(wrong({ type: 5, data: 1 })).toThrow("must begin with");
  expect(wrong({ type: [type], data: 1 })).toThrow("must begin with");
  expect(wrong({ type: `my-${type}`, data: 1 })).toThrow("must begin with");
  expect(wrong({ type, id: 5, data: 1 })).toThrow("the id of a data part must be a string");
  expect(wrong({ type, data: 1n })).toThrow("Data of data-progress");
});

test("chunks are read in the order of the writes, also those from before the reader", () => {
  const chunk = (data: number): DataChunk => ({ type: "data-step", data });
  const read: DataChunk[] = [];
  const early = new DataWriter();
  early.readBy((each) => read.push(each));
  expect(read).toEqual([]);
  early.write(chunk(1));
  const late = new DataWriter();
  late.write(chunk(2));
  late.readBy((each) => read.push(each));
  late.write(chunk(3));
  expect(read).toEqual([chunk(1), chunk(2), chunk(3)]);
  late.readBy((each) => read.push(each));
  expect(read).toHaveLength(3);
});
