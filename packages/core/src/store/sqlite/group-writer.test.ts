// Group commit: a call that is refused fails alone, trouble of the storage is waited out.
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { GroupWriter } from "./group-writer.ts";
import type { OperationName } from "./operations/index.ts";
import type { Call, CallResult } from "./thread-messages.ts";

/** Each call inserts its argument; functions are called in place of it. */
function writerForTest() {
  vi.useFakeTimers();
  const database = new DatabaseSync(":memory:");
  onTestFinished(() => {
    vi.useRealTimers();
    database.close();
  });
  database.exec("create table t (x unique)");
  const insert = database.prepare("insert into t values (?)");
  const sent: CallResult[] = [];
  const perform = ([, , argument]: Call): unknown => {
    if (typeof argument === "function") return argument();
    insert.run(String(argument));
    return argument;
  };
  const writer = new GroupWriter({ database, perform, sendResults: (results) => sent.push(...results) });
  let id = 0;
  const call = (argument: unknown, operation: OperationName = "commit"): Call => [++id, operation, argument];
  const kept = () =>
    database
      .prepare("select x from t order by x")
      .all()
      .map(({ x }) => x);
  return { database, writer, sent, call, kept };
}

/** A statement that fails while it runs, with SQLite's general code. */
const malformed = () => new DatabaseSync(":memory:").prepare("select json_extract('{', '$.a')").get();

const busy = Object.assign(new Error("database is locked"), { errcode: 5 });

test.each<[string, unknown]>([
  ["breaks a rule of the table", "a"],
  ["holds a value that a function of SQL refuses", malformed],
  [
    "is wrong in itself",
    () => {
      throw new TypeError("not a commit");
    },
  ],
])("a call that %s fails alone; the others of its group are written", (_, bad) => {
  const { writer, sent, call, kept } = writerForTest();
  writer.write([call("a"), call(bad), call("b")]);
  expect(sent).toMatchObject([{ value: "a" }, { failure: { kind: "refused" } }, { value: "b" }]);
  expect(kept()).toEqual(["a", "b"]);
  expect(writer.failure).toBeUndefined();
});

test("while the storage is in trouble repeatable calls are refused, and the rest wait and are written once", () => {
  const { writer, sent, call, kept } = writerForTest();
  let trouble = true;
  const troubled = () => {
    if (trouble) throw busy;
    return "written";
  };
  writer.write([call("a"), call(troubled), call("b", "create")]);
  const unavailable = { kind: "unavailable", message: "database is locked" };
  expect(sent.splice(0)).toEqual([{ id: 3, failure: unavailable }]);
  expect(writer.failure).toBe("database is locked");
  writer.write([call("c"), call("d", "create")]);
  expect(sent.splice(0)).toEqual([{ id: 5, failure: unavailable }]);
  expect(kept()).toEqual([]);
  // 20, 40 and 80 milliseconds, then they are still there.
  vi.advanceTimersByTime(100);
  expect(sent).toEqual([]);
  trouble = false;
  vi.advanceTimersByTime(79);
  expect(sent.splice(0)).toEqual([
    { id: 1, value: "a" },
    { id: 2, value: "written" },
    { id: 4, value: "c" },
  ]);
  expect(kept()).toEqual(["a", "c"]);
  expect(writer.failure).toBeUndefined();
  writer.write([call("e", "create")]);
  expect(sent).toEqual([{ id: 6, value: "e" }]);
});

test("a group with a refused call waits, too, when the storage fails in the middle of it", () => {
  const { writer, sent, call, kept } = writerForTest();
  let calls = 0;
  const second = () => {
    if (++calls === 1) throw new TypeError("not a commit");
    if (calls === 2) throw busy;
    return "done";
  };
  writer.write([call("a"), call(second)]);
  expect([sent.length, kept()]).toEqual([0, []]);
  vi.advanceTimersByTime(20);
  expect(sent).toEqual([
    { id: 1, value: "a" },
    { id: 2, value: "done" },
  ]);
});

test("closing tries once more, and calls that still cannot be written are unavailable", () => {
  const { writer, sent, call } = writerForTest();
  let trouble = true;
  const troubled = () => {
    if (trouble) throw busy;
    return "written";
  };
  writer.write([call(troubled)]);
  writer.close();
  expect(sent.splice(0)).toMatchObject([{ failure: { kind: "unavailable" } }]);
  const other = writerForTest();
  trouble = true;
  other.writer.write([other.call(troubled)]);
  trouble = false;
  other.writer.close();
  expect(other.sent).toMatchObject([{ value: "written" }]);
});

test("between two tries there is twice the time, up to two seconds", () => {
  const { writer, call } = writerForTest();
  let tries = 0;
  const troubled = () => {
    tries++;
    throw busy;
  };
  writer.write([call(troubled)]);
  for (const pause of [20, 40, 80, 160, 320, 640, 1280, 2000, 2000]) {
    const before = tries;
    vi.advanceTimersByTime(pause - 1);
    expect(tries).toBe(before);
    vi.advanceTimersByTime(1);
    expect(tries).toBe(before + 1);
  }
});

test("once a try has succeeded, the next trouble begins with the short pause", () => {
  const { writer, call, sent, kept } = writerForTest();
  let trouble = true;
  const troubled = () => {
    if (trouble) throw busy;
  };
  writer.write([call(troubled)]);
  vi.advanceTimersByTime(20);
  trouble = false;
  vi.advanceTimersByTime(40);
  expect([sent.splice(0), writer.failure]).toEqual([[1], undefined]);
  trouble = true;
  writer.write([call(troubled)]);
  writer.write([call("later")]);
  trouble = false;
  vi.advanceTimersByTime(20);
  expect([sent.splice(0), kept()]).toEqual([[2, { id: 3, value: "later" }], ["later"]]);
});

test.each<[string, unknown, "refused" | "waits"]>([
  ["general error", 1, "refused"],
  ["too big", 18, "refused"],
  ["constraint", 19, "refused"],
  ["extended code of a constraint", 2067, "refused"],
  ["mismatch", 20, "refused"],
  ["range", 25, "refused"],
  ["busy", 5, "waits"],
  ["read-only", 8, "waits"],
  ["extended code of a disk failure", 778, "waits"],
  ["full", 13, "waits"],
  ["no code of SQLite", "ERR", "refused"],
])("a call that fails with %s %s", (_, errcode, outcome) => {
  const { writer, sent, call } = writerForTest();
  writer.write([
    call(() => {
      throw Object.assign(new Error("it fails"), { errcode });
    }),
  ]);
  const refused = [{ id: 1, failure: { kind: "refused", message: "it fails" } }];
  expect([sent, writer.failure]).toEqual(outcome === "refused" ? [refused, undefined] : [[], "it fails"]);
});

test("a value that is no error is trouble, too; nothing of its group stays", () => {
  const { database, writer, sent, call, kept } = writerForTest();
  writer.write([
    call("a"),
    call(() => {
      throw "odd";
    }),
  ]);
  expect([sent, writer.failure, kept(), database.isTransaction]).toEqual([[], "odd", [], false]);
});

test("closing with nothing to write sends nothing, and ends the tries", () => {
  const { writer, sent, call } = writerForTest();
  writer.close();
  expect(sent).toEqual([]);
  let tries = 0;
  writer.write([
    call(() => {
      tries++;
      throw busy;
    }),
  ]);
  writer.close();
  vi.advanceTimersByTime(5000);
  expect([tries, sent]).toEqual([
    2,
    [{ id: 1, failure: { kind: "unavailable", message: "database is locked" } }],
  ]);
});
