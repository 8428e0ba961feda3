import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { StoreBusyError, TooManyCopiesError } from "../errors/index.ts";
import { CopyQueue } from "./copy-queue.ts";

/** A queue whose work ends on request, and the order in which it began. */
function start(bounds: ConstructorParameters<typeof CopyQueue>[0]) {
  const queue = new CopyQueue(bounds);
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const run = (user: string | null, name: string) => {
    const ending = Promise.withResolvers<void>();
    ends.set(name, ending);
    return queue.run(user, async () => {
      begun.push(name);
      await ending.promise;
      return name;
    });
  };
  const end = async (name: string, error?: Error) => {
    if (error === undefined) ends.get(name)?.resolve();
    else ends.get(name)?.reject(error);
    await turn();
  };
  return { begun, run, end };
}

test("as many run at once as may; the others begin when one has ended or failed", async () => {
  const { begun, run, end } = start({ atOnce: 2, ofUser: 9, inAll: 9 });
  const results = ["a", "b", "c", "d"].map((name) => run("ada", name));
  const settled = Promise.allSettled(results);
  expect(begun).toEqual(["a", "b"]);
  await end("b", new Error("broken"));
  expect(begun).toEqual(["a", "b", "c"]);
  await end("a");
  expect(begun).toEqual(["a", "b", "c", "d"]);
  await end("c");
  await end("d");
  expect((await settled).map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  // The places are free again.
  void run("ada", "e");
  void run("ada", "f");
  expect(begun.slice(4)).toEqual(["e", "f"]);
});

test("users take turns: one who asks for much does not hold up the next", async () => {
  const { begun, run, end } = start({ atOnce: 1, ofUser: 9, inAll: 9 });
  for (const name of ["a1", "a2", "a3", "a4"]) void run("ada", name);
  void run("eve", "e1");
  void run(null, "n1");
  for (const name of ["a1", "a2", "e1", "n1", "a3", "a4"]) await end(name);
  expect(begun).toEqual(["a1", "a2", "e1", "n1", "a3", "a4"]);
});

test("more than a user's share is refused, up to it nothing is; others are not concerned", async () => {
  const { begun, run, end } = start({ atOnce: 1, ofUser: 3, inAll: 9 });
  for (const name of ["a1", "a2", "a3"]) void run("ada", name);
  await expect(run("ada", "a4")).rejects.toThrow(TooManyCopiesError);
  void run("eve", "e1");
  await end("a1");
  void run("ada", "a5");
  for (const name of ["a2", "e1", "a3", "a5"]) await end(name);
  expect(begun).toEqual(["a1", "a2", "e1", "a3", "a5"]);
});

test("more than may run or wait in all is refused", async () => {
  const { run, end } = start({ atOnce: 1, ofUser: 9, inAll: 3 });
  for (const user of ["ada", "eve", "bob"]) void run(user, user);
  await expect(run("mia", "mia")).rejects.toThrow(StoreBusyError);
  await end("ada");
  void run("mia", "mia2");
});

test("a copy in pages passes its turn after each; of one user the copy that has begun ends first", async () => {
  const queue = new CopyQueue({ atOnce: 1, ofUser: 9, inAll: 9 });
  const pages: string[] = [];
  const copy = (user: string, name: string, count: number) =>
    queue.run(user, async (pass) => {
      for (let page = 1; page <= count; page++) {
        pages.push(`${name}.${page}`);
        await turn();
        if (page < count) await pass();
      }
    });
  await Promise.all([copy("eve", "e", 4), copy("eve", "f", 1), copy("ada", "a", 1), copy("bob", "b", 2)]);
  expect(pages).toEqual(["e.1", "e.2", "a.1", "b.1", "e.3", "b.2", "e.4", "f.1"]);
});

test("a copy that waits for its next page counts once", async () => {
  const queue = new CopyQueue({ atOnce: 1, ofUser: 2, inAll: 3 });
  const door = Promise.withResolvers<void>();
  const paged = queue.run("ada", async (pass) => {
    await pass();
    await door.promise;
  });
  const other = queue.run("ada", async () => undefined);
  await expect(queue.run("ada", async () => undefined)).rejects.toThrow(TooManyCopiesError);
  door.resolve();
  await Promise.all([paged, other]);
  await queue.run("ada", async () => undefined);
});
