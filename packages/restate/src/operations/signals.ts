// The operations on signals. Signals of one name are in one shard; waits are found in all of them, and ids of work begin with the
// number of the shard that holds it. The id of a signal is known within its name.
import { anyKey, matchKey, readPage } from "@andante/core/internal";
import {
  conflictsIn,
  deliverWork,
  type NewSignal,
  type SendSignal,
  type SentSignal,
  type SignalRow,
  type SignalStore,
  type SignalWork,
} from "@andante/core/store";
import type { Shards } from "../client/shards.ts";
import { tagField } from "../engine/lines.ts";
import { homeOf, shardIn, signalColumns, waitColumns } from "../engine/signals.ts";
import { compared, isText, literal, number, numberIn, textIn, wholeIn } from "./sql.ts";

const { waitId, executionId, target, places } = waitColumns;
const seqOf = number(signalColumns.seq);

/** The condition of the waits that a signal ends. */
function isMet({ scope, name, key }: Pick<NewSignal, "scope" | "name" | "key">): string {
  const found = [matchKey(key), anyKey].map((each) => {
    const place = literal(tagField(JSON.stringify([scope, name, each])));
    return `strpos(${places}, ${place}) > 0`;
  });
  return ` and (${found.join(" or ")})`;
}

export function signalOperations(shards: Shards): SignalStore {
  const placed = (shard: number, id: string) => `${shard}:${id}`;
  const placeOf = (workId: string): { readonly shard: number; readonly id: string } => {
    const end = workId.indexOf(":");
    return { shard: Number(workId.slice(0, end)), id: workId.slice(end + 1) };
  };
  const withPlace = <Work extends SignalWork>(shard: number, work: Work): Work => ({
    ...work,
    workId: placed(shard, work.workId),
  });

  const send = async (signal: SendSignal): Promise<SentSignal> => {
    const home = homeOf(signal);
    const shard = shards.of(home);
    const kept = await shards.write(shard, "sendSignal", { signal, shard });
    if (!kept.isNew || kept.kind === "conflict") return { kind: kept.kind, row: kept.row, work: [] };
    const rows = await shards.search(`${target} as target`, "wt/", isMet(signal));
    const targets = [...new Set([...signal.starts, ...rows.map((row) => textIn(row, "target"))])];
    const { seq } = kept.row;
    const row = await shards.write(shard, "targetSignal", { seq, targets, dueAt: signal.dueAt });
    const work = targets.map((each) => withPlace(shard, deliverWork(seq, each)));
    return { kind: kept.kind, row: row ?? kept.row, work: kept.kind === "sent" ? work : [] };
  };

  return {
    send: async (signals) => {
      const known = new Map<NewSignal, SignalRow>();
      for (const signal of signals) {
        const { scope, name, signalId } = signal;
        const row = await shards.read(shards.of(homeOf(signal)), "signal", { scope, name, signalId });
        if (row !== undefined) known.set(signal, row);
      }
      const conflicts = conflictsIn(signals, (signal) => known.get(signal));
      if (conflicts.length > 0) return conflicts;
      const sent: SentSignal[] = [];
      for (const signal of signals) sent.push(await send(signal));
      return sent;
    },
    find: async (query) => {
      const byHome = Map.groupBy(query.places, ([scope, name]) => homeOf({ scope, name }));
      const found = await Promise.all(
        [...byHome].map(([home, given]) =>
          shards.read(shards.of(home), "findSignals", { ...query, places: given }),
        ),
      );
      return found
        .flat()
        .sort((a, b) => a.seq - b.seq)
        .slice(0, query.limit);
    },
    waits: async ({ target: of, after, limit, ...signal }) => {
      const conditions = [
        isText(target, of),
        isMet(signal),
        after === undefined ? "" : ` and ${waitId} > ${literal(after)}`,
      ].join("");
      const select = `${waitId} as wait, ${executionId} as execution`;
      const rows = await shards.search(select, "wt/", `${conditions} order by wait limit ${limit}`);
      return rows.map((row) => {
        const [id, of] = [textIn(row, "wait"), textIn(row, "execution")];
        return { waitId: id, executionId: of, suspensionId: id === `x${of}` ? null : id };
      });
    },
    work: async (workId) => {
      const { shard, id } = placeOf(workId);
      const work = await shards.read(shard, "signalWork", id);
      return work && withPlace(shard, work);
    },
    // Noted first, removed then: effects that are noted twice count once by kind and id.
    settle: async ({ seq, done }) => {
      const given = done.map((each) => ({
        ...each,
        ...(each.keptBy === undefined
          ? placeOf(each.workId)
          : { shard: shards.of(each.keptBy), id: each.workId }),
      }));
      const there = await Promise.all(
        given.map(async ({ shard, id }) => (await shards.read(shard, "signalWork", id)) !== undefined),
      );
      const removed = given
        .filter((_, index) => there[index])
        .map(({ id, effects = [] }) => ({ workId: id, effects }));
      const row =
        seq === null ? undefined : await shards.write(shardIn(seq), "settleSignal", { seq, removed });
      await Promise.all(given.map(({ shard, id }) => shards.write(shard, "dropWork", id)));
      return row;
    },
    read: async ({ scope, signalId }) => {
      const conditions = isText(signalColumns.scope, scope) + isText(signalColumns.signalId, signalId);
      const [row] = await shards.search(`${signalColumns.whole} as whole`, "sg/", conditions);
      return row && wholeIn<SignalRow>(row);
    },
    bySeq: (seq) => shards.read(shardIn(seq), "signalAt", seq),
    list: async ({ scope, name, key, signalId, unmatched, before, limit, length }) => {
      const conditions = [
        isText(signalColumns.scope, scope),
        isText(signalColumns.name, name),
        isText(signalColumns.matchKey, key === undefined ? undefined : matchKey(key)),
        isText(signalColumns.signalId, signalId),
        unmatched ? isText(signalColumns.matched, "") : "",
        compared(seqOf, "<", before),
      ].join("");
      const rest = `${conditions} order by seq desc limit ${limit}`;
      const rows = await shards.search(`${signalColumns.whole} as whole, ${seqOf} as seq`, "sg/", rest);
      return readPage(rows, (row) => wholeIn<SignalRow>(row), length);
    },
    trim: async ({ dataBefore, before, keep, limit }) => {
      const sentAt = number(signalColumns.sentAt);
      const hasData = isText(signalColumns.data, "+");
      const oldest = async (condition: string) => {
        const rows = await shards.search(
          `${seqOf} as seq`,
          "sg/",
          `${condition} order by seq limit ${limit}`,
        );
        return rows.map((row) => numberIn(row, "seq"));
      };
      const beyond = await shards.search(
        `${seqOf} as seq`,
        "sg/",
        `${isText(signalColumns.data, "+")} order by seq desc limit 1 offset ${keep}`,
      );
      const last = beyond[0] === undefined ? -1 : numberIn(beyond[0], "seq");
      const old = await oldest(`${hasData} and (${sentAt} < ${dataBefore} or ${seqOf} <= ${last})`);
      const gone = await oldest(compared(sentAt, "<", before));
      for (const [seqs, isWhole] of [
        [old, false],
        [gone, true],
      ] as const)
        for (const [shard, each] of Map.groupBy(seqs, shardIn))
          await shards.write(shard, "dropSignals", { seqs: each, isWhole });
      return { more: old.length >= limit || gone.length >= limit };
    },
  };
}
