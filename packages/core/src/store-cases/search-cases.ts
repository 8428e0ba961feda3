// The cases of the index of values, for stores that have one.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SearchQuery, SearchRules } from "../store/search-store.ts";
import type { Commit, NewExecution, Store } from "../store/store.ts";
import { cancelOf, commitOf, event, execution, suspension } from "./store-cases.ts";

const events = { suspension: "step-suspended", state: "state-changed" };

export function searchCases(name: string, makeStore: () => Store): void {
  describe(`${name} as an index of values`, () => {
    let store: Store;
    let search: NonNullable<Store["search"]>;
    let workflowId: string;
    /** A word that no other test has. */
    let word: string;

    beforeAll(async () => {
      store = makeStore();
      await store.open();
      if (store.search !== undefined) search = store.search;
    });
    beforeEach(() => {
      workflowId = randomUUID();
      word = `w${randomUUID().slice(0, 8)}`;
    });
    afterAll(() => store.close());

    /** A case for stores that can be searched. */
    const searchable = (behaviour: string, run: () => Promise<void>) =>
      test(behaviour, async () => {
        if (store.search !== undefined) await run();
      });
    const create = async (fields: Partial<NewExecution> = {}): Promise<string> => {
      const made = execution({ workflowId, ...fields });
      await store.create(made);
      return made.executionId;
    };
    const input = (value: unknown) => ({ input: JSON.stringify(value) });
    const indexAll = async () => {
      while ((await search.index({ limit: 10, events })).more);
    };
    const find = async (text: string, query: Partial<SearchQuery> = {}) => {
      await indexAll();
      return search.find({ text, limit: 10, ...query });
    };
    const places = async (text: string, query: Partial<SearchQuery> = {}) => {
      const { found } = await find(text, query);
      return found.map(({ execution, matches }) => [
        execution.executionId,
        ...matches.map(({ path }) => path),
      ]);
    };
    const commit = (executionId: string, fields: Partial<Commit>) =>
      store.commit(commitOf(executionId, fields));
    const end = (executionId: string, result: unknown, at = 3_000) =>
      commit(executionId, {
        following: [event("workflow-complete", { value: JSON.stringify(result), timestamp: at })],
        end: { status: "completed", result: JSON.stringify(result), error: null },
      });
    const define = (exclude: SearchRules["exclude"]) => search.define([{ workflowId, exclude }]);

    searchable(
      "finds an execution by a whole string or its beginning, in any case, with the path",
      async () => {
        const id = await create(input({ items: [{ sku: 1 }, { sku: `Ord_${word}` }], "order id": word }));
        expect(await places(`ord_${word}`)).toEqual([[id, "input.items[1].sku"]]);
        expect(await places(`ORD_${word.slice(0, 4)}`)).toEqual([[id, "input.items[1].sku"]]);
        expect(await places(word)).toEqual([[id, 'input["order id"]']]);
        expect((await find(word)).found[0]).toMatchObject({
          execution: { executionId: id, workflowId, status: "running" },
          matches: [{ value: word }],
        });
        // The rest of a string, or more than it.
        expect(await places(word.slice(1))).toEqual([]);
        expect(await places(`${word}1`)).toEqual([]);
      },
    );

    searchable(
      "finds numbers as text; fewer than three characters are a whole value; booleans and null are not found",
      async () => {
        const number = Math.floor(Math.random() * 1e12) + 1e12;
        const id = await create(input({ number, short: "ab", yes: true, nothing: null }));
        expect(await places(String(number))).toEqual([[id, "input.number"]]);
        expect(await places("ab", { workflowId })).toEqual([[id, "input.short"]]);
        for (const text of ["a", "true", "null"]) expect(await places(text, { workflowId })).toEqual([]);
      },
    );

    searchable(
      "finds results, tags, the data of suspensions and the state, also after they have changed",
      async () => {
        const id = await create({ ...input(1), tags: [word] });
        expect(await places(word)).toEqual([[id, "tags"]]);
        const value = JSON.stringify({ amount: `${word}-gate` });
        const state = (given: unknown) =>
          event("state-changed", { path: "gate", stepIndex: 0, value: JSON.stringify(given) });
        await commit(id, {
          events: [
            state({ step: `${word}-old`, kept: `${word}-kept` }),
            state({ step: `${word}-new` }),
            event("step-suspended", { path: "gate", stepIndex: 0, value }),
          ],
          open: [suspension({ data: value })],
        });
        expect(await places(`${word}-gate`)).toEqual([[id, "suspension.amount"]]);
        expect(await places(`${word}-new`)).toEqual([[id, "state.step"]]);
        expect(await places(`${word}-kept`)).toEqual([[id, "state.kept"]]);
        expect(await places(`${word}-old`)).toEqual([]);
        await end(id, [`${word}-result`]);
        expect(await places(`${word}-result`)).toEqual([[id, "result[0]"]]);
        expect(await places(`${word}-gate`)).toEqual([[id, "suspension.amount"]]);
        expect((await find(`${word}-result`)).found[0]?.execution.status).toBe("completed");
      },
    );

    searchable("finds a long value that the journal holds once", async () => {
      const long = JSON.stringify({ word, text: "x".repeat(10_000) });
      const id = await create({ input: long });
      const suspended = { ...event("step-suspended", { path: "gate", stepIndex: 0 }), value: { sameAs: 0 } };
      await commit(id, { events: [suspended], open: [suspension({ data: long })] });
      expect(await places(word)).toEqual([[id, "input.word", "suspension.word"]]);
      const result = JSON.stringify({ word, text: "y".repeat(10_000) });
      await commit(id, {
        following: [event("workflow-complete", { value: result })],
        end: { status: "completed", result: { sameAs: -1 }, error: null },
      });
      expect(await places(word)).toEqual([[id, "input.word", "result.word", "suspension.word"]]);
    });

    searchable("leaves out secrets, values that are too long, and scalars beyond the bounds", async () => {
      const many = Object.fromEntries(
        Array.from({ length: 100 }, (_, index) => [`k${index}`, `${word}-${index}`]),
      );
      await create(
        input({ apiKey: word, nested: { password: { is: word } }, text: `token=${word}12345678` }),
      );
      await create(input({ word, text: "x".repeat(200_000) }));
      expect(await places(word)).toEqual([]);
      const id = await create(input({ deep: { word: `${word}-deep` }, ...many }));
      expect(await places(`${word}-0`)).toEqual([[id, "input.k0"]]);
      expect(await places(`${word}-99`)).toEqual([]);
      // Outer values come first.
      expect(await places(`${word}-deep`)).toEqual([]);
      const beginning = `${word}${"z".repeat(200)}`;
      const cut = await create(input({ text: `${beginning}-end` }));
      expect(await places(beginning)).toEqual([[cut, "input.text"]]);
    });

    searchable("keeps strings of any characters", async () => {
      const odd = `${word}\u0000\ud800%_'"\\`;
      const id = await create(input({ odd, "\u0000": `${word}-key` }));
      expect((await places(odd))[0]?.[0]).toBe(id);
      expect((await places(`${word}-key`))[0]?.[0]).toBe(id);
      expect(await places(`${word}%`)).toEqual([]);
    });

    searchable("lists executions newest first, a page at a time, each once", async () => {
      const ids: string[] = [];
      for (let startAt = 1; startAt <= 5; startAt++)
        ids.unshift(await create({ ...input({ a: word, b: `${word}-${startAt}` }), startAt }));
      const page = await find(word, { limit: 2 });
      expect(page).toMatchObject({ more: true, complete: true });
      const seen = page.found.map(({ execution }) => execution.executionId);
      for (let last = page.found.at(-1); last !== undefined; ) {
        const { startAt, executionId } = last.execution;
        const { found, more } = await find(word, { limit: 2, before: { startAt, executionId } });
        seen.push(...found.map(({ execution }) => execution.executionId));
        last = more ? found.at(-1) : undefined;
      }
      expect(seen).toEqual(ids);
      expect(page.found[0]?.matches.map(({ path }) => path)).toEqual(["input.a", "input.b"]);
    });

    searchable("filters by user, workflow, status and time of the start", async () => {
      const ann = await create({ ...input(word), userId: "ann", startAt: 1 });
      const bob = await create({ ...input(`${word}-b`), userId: "bob", startAt: 2 });
      const other = await create({ ...input(word), startAt: 3, workflowId: `${workflowId}-other` });
      await store.cancel(cancelOf(ann));
      const ids = async (query: Partial<SearchQuery>) => (await places(word, query)).map(([id]) => id);
      expect(await ids({})).toEqual([other, bob, ann]);
      expect(await ids({ userId: "ann" })).toEqual([ann]);
      expect(await ids({ userId: "bob" })).toEqual([bob]);
      expect(await ids({ userId: "eve" })).toEqual([]);
      expect(await ids({ workflowId })).toEqual([bob, ann]);
      expect(await ids({ status: "cancelled" })).toEqual([ann]);
      expect(await ids({ from: 2, to: 3 })).toEqual([bob]);
    });

    searchable("indexes executions whose times lie before those that are indexed", async () => {
      await create({ ...input(1), startAt: 50_000 });
      await indexAll();
      const id = await create({ ...input(word), startAt: 7 });
      expect(await places(word)).toEqual([[id, "input"]]);
      const ended = await create({ ...input(1), startAt: 60_000 });
      await end(ended, "first", 90_000);
      await indexAll();
      await end(id, `${word}-result`, 8);
      expect(await places(`${word}-result`)).toEqual([[id, "result"]]);
      const late = await create({ ...input(1), startAt: 60_000 });
      const value = JSON.stringify(`${word}-late`);
      await commit(late, {
        events: [event("step-suspended", { path: "gate", stepIndex: 0, value })],
        open: [suspension({ data: value, suspendedAt: 5 })],
      });
      expect(await places(`${word}-late`)).toEqual([[late, "suspension"]]);
    });

    searchable("a batch is bounded, and repeating one changes nothing", async () => {
      await indexAll();
      for (let startAt = 1; startAt <= 5; startAt++) await create({ ...input(word), startAt });
      expect(await search.index({ limit: 2, events })).toEqual({ more: true });
      const { found } = await search.find({ text: word, limit: 10 });
      expect(found.length).toBeLessThan(5);
      await indexAll();
      expect(await search.index({ limit: 2, events })).toEqual({ more: false });
      expect((await find(word)).found).toHaveLength(5);
    });

    searchable(
      "values that the workflow excludes are not found, and are removed when the rules change",
      async () => {
        await define([]);
        const value = { card: { number: word }, items: [{ secretish: word }], open: `${word}-open` };
        const id = await create({ ...input(value), tags: [word] });
        expect(await places(word)).toEqual([
          [id, "input.card.number", "input.items[0].secretish", "tags", "input.open"],
        ]);
        await define(["input.card", "input.items.secretish", "tags"]);
        expect(await places(word)).toEqual([[id, "input.open"]]);
        await define(true);
        expect(await places(word)).toEqual([]);
        await end(id, word);
        expect(await places(word)).toEqual([]);
        await define(["input"]);
        expect(await places(word)).toEqual([[id, "result", "tags"]]);
      },
    );

    searchable("deleting an execution deletes its entries", async () => {
      const id = await create({ ...input(word), userId: "ann", tags: [word] });
      await end(id, word, 4);
      expect(await places(word)).toHaveLength(1);
      while (
        (await store.deleteFinished({ upTo: { endAt: 4, executionId: id }, limit: 10, events: 100 })).more
      );
      expect(await places(word)).toEqual([]);
      // An execution of the same id is another one.
      await create({ ...input(`${word}-2`), executionId: id, userId: "bob" });
      expect(await places(word)).toEqual([[id, "input"]]);
      expect(await places(word, { userId: "ann" })).toEqual([]);
    });
  });
}
