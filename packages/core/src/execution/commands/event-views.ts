// Events as their senders and the console see them.
import { isUnmatched, readEffects } from "../../store/decide/index.ts";
import type { SignalEffectKind, SignalRow } from "../../store/signal-store.ts";
import { fromJson } from "../../values/json.ts";

export interface SkippedStart {
  readonly workflowId: string;
  readonly reason: string;
}

/** The effects of an event so far: at most 100 ids of executions. */
interface Done {
  readonly started: readonly string[];
  readonly woken: readonly string[];
  readonly cancelled: readonly string[];
  /** Workflows that it did not start. */
  readonly skipped: readonly SkippedStart[];
}

/** The answer to the sender of an event. */
export interface EventReceipt extends Done {
  readonly eventId: string;
  /** An event with this id was sent before, and these are its effects. */
  readonly duplicate: boolean;
}

export interface EventView extends Done {
  readonly eventId: string;
  readonly name: string;
  /** Null without one. */
  readonly key: string | null;
  /** The user whose executions alone it reaches; null for a shared one. */
  readonly scope: string | null;
  readonly userId: string | null;
  /** The execution whose body has sent it; null for a caller. */
  readonly sentBy: string | null;
  /** ISO 8601. */
  readonly sentAt: string;
  /** Absent once it is too old to be found by waits. */
  readonly data?: unknown;
  /** Of all, also those that are not named. */
  readonly counts: Readonly<Record<SignalEffectKind, number>>;
  /** It has started, woken and cancelled nothing so far. */
  readonly unmatched: boolean;
}

export function receiptOf(
  row: SignalRow,
  duplicate: boolean,
  skipped: readonly SkippedStart[] = [],
): EventReceipt {
  const done = doneBy(row);
  return { eventId: row.signalId, duplicate, ...done, skipped: [...done.skipped, ...skipped] };
}

export function viewEvent(row: SignalRow): EventView {
  const { signalId: eventId, name, key, scope, userId, sentBy, sentAt, data, effects } = row;
  return {
    ...{ eventId, name, key, scope: scope === "" ? null : scope, userId, sentBy },
    sentAt: new Date(sentAt).toISOString(),
    ...(data !== null && { data: fromJson(data) }),
    ...doneBy(row),
    counts: { started: 0, woken: 0, cancelled: 0, skipped: 0, ...readEffects(effects).counts },
    unmatched: isUnmatched(effects),
  };
}

function doneBy({ effects }: SignalRow): Done {
  const { named } = readEffects(effects);
  const of = (kind: SignalEffectKind) => named.filter((each) => each.kind === kind).map(({ id }) => id);
  const skipped = named.filter(({ kind }) => kind === "skipped");
  return {
    started: of("started"),
    woken: of("woken"),
    cancelled: of("cancelled"),
    skipped: skipped.map(({ id: workflowId, reason = "" }) => ({ workflowId, reason })),
  };
}
