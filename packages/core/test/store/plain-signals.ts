// Signals of the store of maps. Waits are found among the suspensions and executions that are given.

import { type EventPlace, readAwaits } from "../../src/event/awaits.ts";
import { cancelledBy } from "../../src/event/cause.ts";
import { anyKey, matchKey, targetOf } from "../../src/event/match-key.ts";
import {
  conflictsIn,
  dueTimeOf,
  isUnmatched,
  lookWork,
  settledSignal,
} from "../../src/store/decide/index.ts";
import type {
  FindSignals,
  NoteWork,
  SendSignal,
  SendWork,
  SentSignal,
  SettleWork,
  SignalRow,
  SignalsQuery,
  SignalWait,
  SignalWork,
  TrimSignals,
  WaitsQuery,
} from "../../src/store/signal-store.ts";
import { readPage } from "../../src/store/sql/read-page.ts";
import { knownSignal, sentSignal } from "../../src/store/sql/signal-rows.ts";
import type { DueQuery, DueTimer } from "../../src/store/store.ts";
import type { Suspension } from "../../src/store/suspension.ts";

export interface PlainWaiter {
  readonly executionId: string;
  readonly links: string | null;
  readonly suspensions: Iterable<Suspension>;
}

interface PlacedWait extends SignalWait {
  readonly target: string;
  readonly keys: readonly EventPlace[];
}

export function plainSignals(waiters: () => readonly PlainWaiter[]) {
  const rows = new Map<number, SignalRow>();
  const works = new Map<string, { readonly work: SignalWork; readonly dueAt: number }>();
  let last = 0;

  const waits = (): PlacedWait[] =>
    waiters().flatMap(({ executionId, links, suspensions }) => {
      const cancelOn = cancelledBy(links);
      const own = [...suspensions].flatMap(({ suspensionId, awaits }): PlacedWait[] =>
        awaits ? [{ waitId: suspensionId, executionId, suspensionId, ...readAwaits(awaits) }] : [],
      );
      return cancelOn === null
        ? own
        : [...own, { waitId: `x${executionId}`, executionId, suspensionId: null, ...cancelOn }];
    });
  const matching = ({ scope, name, key }: Pick<SignalRow, "scope" | "name" | "key">) =>
    waits().filter(({ keys }) =>
      keys.some(
        ([ofScope, ofName, ofKey]) =>
          ofScope === scope && ofName === name && (ofKey === anyKey || ofKey === matchKey(key)),
      ),
    );
  const known = ({ scope, signalId }: Pick<SignalRow, "scope" | "signalId">) =>
    [...rows.values()].find((row) => row.scope === scope && row.signalId === signalId);
  const keep = (work: SignalWork, dueAt: number) => {
    if (!works.has(work.workId)) works.set(work.workId, { work, dueAt });
  };

  const send = ({ starts, dueAt, ...signal }: SendSignal): SentSignal => {
    const before = known(signal);
    if (before !== undefined) return knownSignal(before, signal);
    const targets = new Set([...starts, ...matching(signal).map(({ target }) => target)]);
    const sent = sentSignal(signal, ++last, [...targets]);
    rows.set(last, sent.row);
    for (const work of sent.work) keep(work, dueAt);
    return sent;
  };

  return {
    /** A suspension is kept. */
    opened: (executionId: string, { suspensionId, awaits, suspendedAt }: Suspension): void => {
      if (awaits) keep(lookWork(executionId, suspensionId, readAwaits(awaits).target), suspendedAt);
    },
    keepWork: (kept: readonly (SendWork | NoteWork)[]): void => {
      for (const work of kept) keep(work, dueTimeOf(work));
    },
    due: ({ workflowIds, agentIds = [], signals = false, limit }: DueQuery): DueTimer[] => {
      const targets = [
        ...workflowIds.map((workflowId) => targetOf({ workflowId })),
        ...agentIds.map((agentId) => targetOf({ workflowId: "", agentId })),
      ];
      return [...works.values()]
        .filter(({ work }) => signals && targets.includes(work.target))
        .map(({ work: { workId, target }, dueAt }): DueTimer => {
          const workflowId = target.startsWith("w") ? target.slice(1) : "";
          return { kind: "signal", executionId: workId, workflowId, dueAt };
        })
        .sort((a, b) => a.dueAt - b.dueAt)
        .slice(0, limit);
    },
    operations: {
      send: (signals: readonly SendSignal[]): SentSignal[] => {
        const conflicts = conflictsIn(signals, known);
        return conflicts.length > 0 ? conflicts : signals.map(send);
      },
      find: ({ places, since, after, limit }: FindSignals): SignalRow[] =>
        [...rows.values()]
          .filter(
            (row) =>
              row.data !== null &&
              row.sentAt >= since &&
              row.seq > after &&
              places.some(
                ([scope, name, key]) =>
                  scope === row.scope && name === row.name && (key === anyKey || key === matchKey(row.key)),
              ),
          )
          .slice(0, limit),
      waits: ({ target, after = "", limit, ...of }: WaitsQuery): SignalWait[] =>
        matching(of)
          .filter((each) => each.target === target && each.waitId > after)
          .map(({ waitId, executionId, suspensionId }) => ({ waitId, executionId, suspensionId }))
          .sort((a, b) => (a.waitId < b.waitId ? -1 : 1))
          .slice(0, limit),
      work: (workId: string): SignalWork | undefined => works.get(workId)?.work,
      settle: ({ seq, done }: SettleWork): SignalRow | undefined => {
        const removed = done.filter(({ workId }) => works.delete(workId));
        const row = rows.get(seq ?? 0);
        if (row === undefined) return undefined;
        const settled = settledSignal(row, removed);
        rows.set(row.seq, settled);
        return settled;
      },
      read: known,
      bySeq: (seq: number): SignalRow | undefined => rows.get(seq),
      list: ({ scope, name, key, signalId, unmatched, before, limit, length }: SignalsQuery): SignalRow[] => {
        const found = [...rows.values()]
          .reverse()
          .filter(
            (row) =>
              (scope === undefined || row.scope === scope) &&
              (name === undefined || row.name === name) &&
              (key === undefined || row.key === key) &&
              (signalId === undefined || row.signalId === signalId) &&
              (!unmatched || isUnmatched(row.effects)) &&
              (before === undefined || row.seq < before),
          )
          .slice(0, limit);
        return readPage(found, (row) => row, length);
      },
      trim: ({ dataBefore, before, keep: count, limit }: TrimSignals): { more: boolean } => {
        const old = [...rows.values()].filter(
          ({ data, sentAt, seq }) => data !== null && (sentAt < dataBefore || seq <= last - count),
        );
        for (const row of old.slice(0, limit)) rows.set(row.seq, { ...row, data: null });
        const gone = [...rows.values()].filter(({ sentAt }) => sentAt < before);
        for (const { seq } of gone.slice(0, limit)) rows.delete(seq);
        return { more: old.length >= limit || gone.length >= limit };
      },
    },
  };
}
