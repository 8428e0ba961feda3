// Rows of signals, in any SQL database.
import { matchKey } from "../../event/match-key.ts";
import { deliverWork, isSameSignal, noEffects, readWork } from "../decide/index.ts";
import type { NewSignal, SentSignal, SignalRow, SignalWait, SignalWork } from "../signal-store.ts";
import { integer, nullableText, type Row, text } from "./columns.ts";

export function toSignal(row: Row): SignalRow {
  const key = text(row, "match_key");
  return {
    seq: integer(row, "seq"),
    signalId: text(row, "signal_id"),
    scope: text(row, "scope"),
    name: text(row, "name"),
    key: key.startsWith("=") ? key.slice(1) : null,
    data: nullableText(row, "data"),
    userId: nullableText(row, "user_id"),
    sentBy: nullableText(row, "sent_by"),
    sentAt: integer(row, "sent_at"),
    effects: text(row, "effects"),
    pending: integer(row, "pending"),
  };
}

/** The values of a new row, in the order of `signalColumns`. */
export function signalValues(signal: NewSignal, pending: number) {
  const { signalId, scope, name, key, data, userId, sentBy, sentAt } = signal;
  return [signalId, scope, name, matchKey(key), data, userId, sentBy, sentAt, noEffects, pending];
}

export const signalColumns =
  "signal_id, scope, name, match_key, data, user_id, sent_by, sent_at, effects, pending";

/** The answer to a signal that was new. */
export function sentSignal(signal: NewSignal, seq: number, targets: readonly string[]): SentSignal {
  const work = targets.map((target) => deliverWork(seq, target));
  return { kind: "sent", row: { ...signal, seq, effects: noEffects, pending: work.length }, work };
}

/** The answer to a signal whose id is known. */
export function knownSignal(row: SignalRow, signal: NewSignal): SentSignal {
  return { kind: isSameSignal(row, signal) ? "duplicate" : "conflict", row, work: [] };
}

export function toWait(row: Row): SignalWait {
  const waitId = text(row, "wait_id");
  const executionId = text(row, "execution_id");
  return { waitId, executionId, suspensionId: waitId === `x${executionId}` ? null : waitId };
}

export function toWork(row: Row): SignalWork {
  return readWork(text(row, "work_id"), text(row, "target"), text(row, "body"));
}
