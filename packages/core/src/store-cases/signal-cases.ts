// The cases that the events from outside of every store must pass.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Awaits, type EventPlace, placesOf } from "../event/awaits.ts";
import { linkToEvents } from "../event/cause.ts";
import { matchKey, targetOf } from "../event/match-key.ts";
import { readEffects } from "../store/decide/index.ts";
import type { NoteWork, SendSignal, SignalEffect, SignalWork } from "../store/signal-store.ts";
import type { Resume, Store } from "../store/store.ts";
import { cancelOf, commitOf, event, execution, suspension } from "./store-cases.ts";

export function signalCases(name: string, makeStore: () => Store): void {
  describe(`${name} as a store of events`, () => {
    let store: Store;
    beforeAll(async () => {
      store = makeStore();
      await store.open();
    });
    afterAll(() => store.close());

    const signalOf = (fields: Partial<SendSignal> = {}): SendSignal => ({
      ...{ signalId: randomUUID(), scope: "", name: `n-${randomUUID()}`, key: "k", data: '{"a":"\\u0000ß"}' },
      ...{ userId: null, sentBy: null, sentAt: 1000, starts: [], dueAt: 2000 },
      ...fields,
    });
    const send = async (signal: SendSignal) => {
      const [sent] = await store.signals.send([signal]);
      if (sent === undefined) throw new Error("nothing was sent");
      return sent;
    };
    const awaitsOf = (
      workflowId: string,
      places: readonly { readonly name: string; readonly key: string | null; readonly scope?: string }[],
    ): string => {
      const events = places.map(({ name: of, key, scope = "" }) => {
        return { name: of, key, scopes: [scope], since: 0, after: 0, not: [] };
      });
      const target = targetOf({ workflowId });
      const awaits: Awaits = { target, several: false, events, keys: placesOf(events) };
      return JSON.stringify(awaits);
    };
    /** An execution that waits; returns its ids. */
    const waiting = async (
      places: Parameters<typeof awaitsOf>[1],
      { workflowId = `w-${randomUUID()}` } = {},
    ) => {
      const made = execution({ executionId: randomUUID(), workflowId });
      await store.create(made);
      const open = suspension({ suspendedAt: 900, awaits: awaitsOf(workflowId, places) });
      const of = { executionId: made.executionId, token: made.claim.token };
      await store.commit(
        commitOf(of.executionId, { ...of, open: [open], idle: { resumes: 0, event: null } }),
      );
      return { ...of, workflowId, suspensionId: open.suspensionId, target: targetOf({ workflowId }) };
    };
    const due = async (workflowId: string, after?: number) =>
      (await store.due({ workflowIds: [workflowId], signals: true, after, limit: 10 })).filter(
        ({ kind }) => kind === "signal",
      );
    const waitsOf = async ({ name: of, key, scope }: SendSignal, target: string, after?: string) =>
      store.signals.waits({ scope, name: of, key, target, after, limit: 10 });

    test("keeps a signal, and returns it for a known id", async () => {
      const signal = signalOf({ userId: "Ada" });
      const { kind, row, work } = await send(signal);
      const { starts: _, dueAt: _d, ...kept } = signal;
      expect({ kind, work }).toEqual({ kind: "sent", work: [] });
      expect(row).toMatchObject({ ...kept, pending: 0 });
      expect(await store.signals.bySeq(row.seq)).toMatchObject(kept);
      expect(await store.signals.read({ scope: "", signalId: signal.signalId })).toMatchObject(kept);
      expect(await send({ ...signal, sentAt: 5000 })).toMatchObject({ kind: "duplicate", row: kept });
      for (const other of [{ data: "1" }, { key: "other" }])
        expect((await send({ ...signal, ...other })).kind).toBe("conflict");
      expect((await send({ ...signal, scope: "Ada" })).kind).toBe("sent");
    });

    test("of several signals all are kept in order, or none", async () => {
      const [one, two] = [signalOf(), signalOf()];
      const same = { ...two, name: one.name };
      const sent = await store.signals.send([one, same, one]);
      expect(sent.map(({ kind }) => kind)).toEqual(["sent", "sent", "duplicate"]);
      const [first = 0, second = 0] = sent.map(({ row }) => row.seq);
      expect(first).toBeLessThan(second);
      const fresh = signalOf({ name: one.name });
      const refused = await store.signals.send([fresh, { ...one, data: "2" }]);
      expect(refused.map(({ kind }) => kind)).toContain("conflict");
      expect(await store.signals.list({ name: fresh.name, limit: 10 })).toHaveLength(2);
    });

    test("of simultaneous signals with one id one is kept", async () => {
      const signal = signalOf();
      const sent = await Promise.all(Array.from({ length: 8 }, () => send(signal)));
      expect(sent.filter(({ kind }) => kind === "sent")).toHaveLength(1);
      expect(new Set(sent.map(({ row }) => row.seq)).size).toBe(1);
    });

    test("leaves work for what it starts and for those that wait for its key, or for any", async () => {
      const signal = signalOf();
      const { name: of, key } = signal;
      const exact = await waiting([{ name: of, key }]);
      const any = await waiting([
        { name: of, key: null },
        { name: "another", key: "x" },
      ]);
      const other = await waiting([{ name: of, key: "other" }]);
      const user = await waiting([{ name: of, key, scope: "Ada" }]);
      const { row, work } = await send({ ...signal, starts: ["wstarted"] });
      const targets = [exact.target, any.target, "wstarted"];
      expect(work.map(({ target }) => target).sort()).toEqual(targets.sort());
      expect(row.pending).toBe(3);
      expect(await waitsOf(signal, exact.target)).toEqual([
        { waitId: exact.suspensionId, executionId: exact.executionId, suspensionId: exact.suspensionId },
      ]);
      expect(await waitsOf(signal, exact.target, exact.suspensionId)).toEqual([]);
      for (const { target } of [other, user]) expect(await waitsOf(signal, target)).toEqual([]);
      const [first] = work.filter(({ target }) => target === exact.target);
      const found = await due(exact.workflowId);
      expect(found.map(({ executionId, dueAt }) => [executionId, dueAt])).toContainEqual([
        first?.workId,
        2000,
      ]);
      expect(await due(exact.workflowId, 1999)).toEqual(found.filter(({ dueAt }) => dueAt === 2000));
      expect(await due(exact.workflowId, 2000)).toEqual([]);
      expect(await store.signals.work(first?.workId ?? "")).toEqual(first);
      expect((await store.due({ workflowIds: [exact.workflowId], limit: 10 })).length).toBe(0);
    });

    test("a wait leaves work, and goes with its suspension", async () => {
      const signal = signalOf();
      const { name: of, key } = signal;
      const made = await waiting([{ name: of, key }]);
      const [look] = await due(made.workflowId);
      expect(look).toMatchObject({ kind: "signal", workflowId: made.workflowId, dueAt: 900 });
      const { executionId, suspensionId, target } = made;
      const work = await store.signals.work(look?.executionId ?? "");
      expect(work).toMatchObject({ kind: "look", executionId, suspensionId, target });
      await store.signals.settle({ seq: null, done: [{ workId: look?.executionId ?? "" }] });
      expect(await due(made.workflowId)).toEqual([]);
      const state = await store.state(executionId);
      expect(state?.suspensions[0]?.awaits).toBe(awaitsOf(made.workflowId, [{ name: of, key }]));
      expect(
        (await store.waiting({ workflowId: made.workflowId, limit: 1 }))[0]?.suspension.awaits,
      ).toBeTypeOf("string");
      const claim = { owner: "o", token: randomUUID() };
      const closes = { executionId, suspensionIds: [suspensionId], rewind: null, events: [] };
      expect((await store.resume({ ...closes, claim, byDeadline: false })).kind).toBe("claimed");
      expect(await waitsOf(signal, target)).toEqual([]);
      expect((await send(signal)).work).toEqual([]);
    });

    test("an execution that a signal cancels waits for it until it ends", async () => {
      const signal = signalOf();
      const workflowId = `w-${randomUUID()}`;
      const keys: EventPlace[] = [["", signal.name, matchKey(signal.key)]];
      const target = targetOf({ workflowId });
      const links = linkToEvents({ cancelOn: { target, keys } });
      const made = execution({ executionId: randomUUID(), workflowId, links });
      await store.create(made);
      const { executionId } = made;
      expect(await waitsOf(signal, target)).toEqual([
        { waitId: `x${executionId}`, executionId, suspensionId: null },
      ]);
      const end = { status: "completed", result: null, error: null } as const;
      await store.commit(commitOf(executionId, { token: made.claim.token, end }));
      expect(await waitsOf(signal, target)).toEqual([]);
    });

    test("finds earlier signals by place, number and time, the lowest number first", async () => {
      const { name: of } = signalOf();
      const seqs: number[] = [];
      for (const [key, sentAt] of [
        ["a", 10],
        ["b", 20],
        ["a", 30],
        [null, 40],
      ] as const)
        seqs.push((await send(signalOf({ name: of, key, sentAt }))).row.seq);
      const find = async (
        key: string | null,
        query: { since?: number; after?: number; limit?: number } = {},
      ) => {
        const places: EventPlace[] = [["", of, matchKey(key)]];
        const rows = await store.signals.find({ places, since: 0, after: 0, limit: 10, ...query });
        return rows.map(({ seq }) => seqs.indexOf(seq));
      };
      expect(await find("a")).toEqual([0, 2]);
      expect(await find(null)).toEqual([0, 1, 2, 3]);
      expect(await find("a", { since: 11 })).toEqual([2]);
      expect(await find("a", { after: seqs[0] ?? 0 })).toEqual([2]);
      expect(await find(null, { limit: 2 })).toEqual([0, 1]);
      expect(await find("none")).toEqual([]);
    });

    test("settled work counts its effects once", async () => {
      const { row, work } = await send(signalOf({ starts: ["wone", "wtwo"] }));
      const [one, two] = work;
      const { seq } = row;
      const effects = [{ kind: "started", id: "e1" } as const];
      const settle = (workId = "", made: readonly SignalEffect[] = []) =>
        store.signals.settle({ seq, done: [{ workId, effects: made }] });
      const first = await settle(one?.workId, effects);
      expect(first?.pending).toBe(1);
      await settle(one?.workId, [{ kind: "started", id: "another" }]);
      const more = [{ kind: "skipped", id: "w", reason: "because" } as const];
      const settled = await settle(two?.workId, more);
      expect(settled?.pending).toBe(0);
      expect(readEffects(settled?.effects ?? "")).toEqual({
        counts: { started: 1, skipped: 1 },
        named: [...effects, ...more],
      });
      expect(await store.signals.bySeq(seq)).toEqual(settled);
      expect(await store.signals.work(one?.workId ?? "")).toBeUndefined();
    });

    test("the effect of an event is work of the write that ends its wait, once", async () => {
      const { row } = await send(signalOf());
      const made = await waiting([{ name: row.name, key: row.key }]);
      const { executionId, workflowId, suspensionId, target } = made;
      const { seq } = row;
      const note = (waitId: string, kind: "woken" | "cancelled"): NoteWork => ({
        ...{ workId: `note ${waitId}`, target, kind: "note" },
        ...{ seq, effect: { kind, id: executionId }, dueAt: 800 },
      });
      const woken = note(suspensionId, "woken");
      const resume: Resume = {
        ...{ executionId, suspensionIds: [suspensionId], rewind: null, byDeadline: false, note: woken },
        ...{ events: [event("workflow-resumed")], claim: { owner: "there", token: randomUUID() } },
      };
      for (let times = 0; times < 2; times++) expect((await store.resume(resume)).kind).toBe("claimed");
      const late = { ...resume, claim: { owner: "there", token: "late" }, note: note("late", "woken") };
      expect((await store.resume(late)).kind).toBe("refused");
      const cancelled = note(`x${executionId}`, "cancelled");
      expect((await store.cancel(cancelOf(executionId, { note: cancelled }))).kind).toBe("cancelled");
      const refused = cancelOf(executionId, { note: note("refused", "cancelled") });
      expect((await store.cancel(refused)).kind).toBe("refused");
      const found = (await due(workflowId)).filter(({ dueAt }) => dueAt === 800);
      const kept = await Promise.all(found.map(({ executionId: workId }) => store.signals.work(workId)));
      const effects = kept.map((work) => (work?.kind === "note" ? work.effect.kind : undefined));
      expect(effects.sort()).toEqual(["cancelled", "woken"]);
      // By the process that has made it, and by one that has found it.
      const own = { workId: woken.workId, effects: [woken.effect], keptBy: executionId };
      await store.signals.settle({ seq, done: [own] });
      for (const { executionId: workId } of found) {
        const work = await store.signals.work(workId);
        if (work?.kind === "note")
          await store.signals.settle({ seq, done: [{ workId, effects: [work.effect] }] });
      }
      const settled = await store.signals.settle({ seq, done: [own] });
      expect(readEffects(settled?.effects ?? "").counts).toEqual({ woken: 1, cancelled: 1 });
      expect((await due(workflowId)).filter(({ dueAt }) => dueAt === 800)).toEqual([]);
    });

    test("an event that a body sends is work of the commit", async () => {
      const workflowId = `w-${randomUUID()}`;
      const made = execution({ executionId: randomUUID(), workflowId });
      await store.create(made);
      const { starts: _, dueAt: _d, ...signal } = signalOf({ sentBy: made.executionId, sentAt: 700 });
      const work: SignalWork = {
        ...{ workId: `send ${signal.signalId}`, target: targetOf({ workflowId }), kind: "send", signal },
      };
      const of = { executionId: made.executionId, token: made.claim.token };
      const sends = commitOf(of.executionId, { ...of, sends: [work] });
      expect((await store.commit(sends)).kind).toBe("ok");
      expect((await store.commit(sends)).kind).toBe("ok");
      const found = await due(workflowId);
      expect(found.map(({ dueAt }) => dueAt)).toEqual([700]);
      const kept = await store.signals.work(found[0]?.executionId ?? "");
      expect(kept).toMatchObject({ kind: "send", signal });
      const stale = commitOf(of.executionId, {
        token: "another",
        number: 2,
        sends: [{ ...work, workId: "send x" }],
      });
      expect((await store.commit(stale)).kind).toBe("fenced");
      expect(await due(workflowId)).toHaveLength(1);
    });

    test("lists signals, the newest first, and those that did nothing", async () => {
      const { name: of } = signalOf();
      const sent = [];
      for (const key of ["a", "b", "c"])
        sent.push(await send(signalOf({ name: of, key, starts: ["wx"], sentAt: 1000 + sent.length })));
      const keysOf = async (query: object) =>
        (await store.signals.list({ name: of, limit: 10, ...query })).map(({ key }) => key);
      expect(await keysOf({})).toEqual(["c", "b", "a"]);
      expect(await keysOf({ limit: 2 })).toEqual(["c", "b"]);
      expect(await keysOf({ before: sent[2]?.row.seq })).toEqual(["b", "a"]);
      expect(await keysOf({ key: "b" })).toEqual(["b"]);
      expect(await keysOf({ signalId: sent[0]?.row.signalId })).toEqual(["a"]);
      expect(await keysOf({ scope: "Ada" })).toEqual([]);
      const { row, work } = sent[1] ?? { row: { seq: 0 }, work: [] };
      const effects = [{ kind: "woken", id: "e" } as const];
      await store.signals.settle({ seq: row.seq, done: [{ workId: work[0]?.workId ?? "", effects }] });
      expect(await keysOf({ unmatched: true })).toEqual(["c", "a"]);
    });

    test("a list ends with the signal that makes it long", async () => {
      const name = `n-${randomUUID()}`;
      for (const signalId of ["a", "b", "c"])
        await send(
          signalOf({ name, signalId: `${signalId} ${name}`, data: JSON.stringify("x".repeat(5_000)) }),
        );
      const idsIn = (rows: readonly { readonly signalId: string }[]) =>
        rows.map(({ signalId }) => signalId[0]);
      expect(idsIn(await store.signals.list({ name, limit: 10, length: 1 }))).toEqual(["c"]);
      expect(idsIn(await store.signals.list({ name, limit: 10, length: 8_000 }))).toEqual(["c", "b"]);
      expect(idsIn(await store.signals.list({ name, limit: 10 }))).toEqual(["c", "b", "a"]);
    });

    test("trims data, and later the ids", async () => {
      const { name: of } = signalOf();
      const old = await send(signalOf({ name: of, sentAt: 10 }));
      const places: EventPlace[] = [["", of, matchKey("k")]];
      const find = () => store.signals.find({ places, since: 0, after: 0, limit: 10 });
      const trim = async (given: { dataBefore: number; before: number }) => {
        const query = { ...given, keep: 1_000_000, limit: 1000 };
        while ((await store.signals.trim(query)).more);
      };
      await trim({ dataBefore: 11, before: 10 });
      expect(await find()).toEqual([]);
      const { starts: _, dueAt: _d, ...signal } = signalOf({ ...old.row, data: "" });
      expect((await send({ ...signal, starts: [], dueAt: 0 })).kind).toBe("duplicate");
      await trim({ dataBefore: 11, before: 11 });
      expect(await store.signals.bySeq(old.row.seq)).toBeUndefined();
    });
  });
}
