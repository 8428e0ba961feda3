// Pure rules of signals: which one is the same, and how effects add up.
import type {
  DoneWork,
  NewSignal,
  NoteWork,
  SendWork,
  SentSignal,
  SignalEffect,
  SignalEffectKind,
  SignalRow,
  SignalWork,
} from "../signal-store.ts";

/** Effects that a signal names; the others are counted. */
export const maxEffects = 100;

export interface SignalEffects {
  readonly counts: Readonly<Partial<Record<SignalEffectKind, number>>>;
  readonly named: readonly SignalEffect[];
}

export const noEffects = '{"counts":{},"named":[]}';

export function readEffects(text: string): SignalEffects {
  const effects: SignalEffects = JSON.parse(text);
  return effects;
}

/** Work that is done twice has the same effects: those that are named count once. */
export function withEffects(text: string, made: readonly SignalEffect[]): string {
  if (made.length === 0) return text;
  const before = readEffects(text);
  const counts: Partial<Record<SignalEffectKind, number>> = { ...before.counts };
  const named = [...before.named];
  for (const effect of made) {
    if (named.some(({ kind, id }) => kind === effect.kind && id === effect.id)) continue;
    counts[effect.kind] = (counts[effect.kind] ?? 0) + 1;
    if (named.length < maxEffects) named.push(effect);
  }
  return JSON.stringify({ counts, named });
}

/** The signal after work of it was removed. */
export function settledSignal(row: SignalRow, removed: readonly DoneWork[]): SignalRow {
  const delivered = removed.filter(({ workId }) => workId.startsWith("deliver "));
  const made = removed.flatMap(({ effects = [] }) => effects);
  return {
    ...row,
    effects: withEffects(row.effects, made),
    pending: Math.max(0, row.pending - delivered.length),
  };
}

/** Whether a signal has started, woken or cancelled nothing. */
export function isUnmatched(effects: string): boolean {
  const { started = 0, woken = 0, cancelled = 0 } = readEffects(effects).counts;
  return started + woken + cancelled === 0;
}

/** Whether a signal with a known id is the same one. One whose data is gone is not compared by it. */
export function isSameSignal(before: Pick<SignalRow, "name" | "key" | "data">, sent: NewSignal): boolean {
  const isNamed = before.name === sent.name && before.key === sent.key;
  return isNamed && (before.data === null || before.data === sent.data);
}

/** Signals whose id is used for another one, kept or among them: then none is kept. */
export function conflictsIn(
  signals: readonly NewSignal[],
  known: (signal: NewSignal) => SignalRow | undefined,
): SentSignal[] {
  const given = new Map<string, NewSignal>();
  return signals.flatMap((signal): SentSignal[] => {
    const id = JSON.stringify([signal.scope, signal.signalId]);
    const other = given.get(id);
    given.set(id, signal);
    const row = known(signal) ?? (other && { ...other, seq: 0, effects: noEffects, pending: 0 });
    return row === undefined || isSameSignal(row, signal) ? [] : [{ kind: "conflict", row, work: [] }];
  });
}

export function deliverWork(seq: number, target: string): Extract<SignalWork, { kind: "deliver" }> {
  return { workId: `deliver ${seq} ${target}`, target, kind: "deliver", seq };
}

export function lookWork(
  executionId: string,
  suspensionId: string,
  target: string,
): Extract<SignalWork, { kind: "look" }> {
  return { workId: `look ${suspensionId}`, target, kind: "look", executionId, suspensionId };
}

export function sendWork(signal: NewSignal, target: string): SendWork {
  return { workId: `send ${signal.signalId}`, target, kind: "send", signal };
}

/** The note of the end of a wait. */
export function noteWork(
  waitId: string,
  target: string,
  note: Pick<NoteWork, "seq" | "effect" | "dueAt">,
): NoteWork {
  return { workId: `note ${waitId}`, target, kind: "note", ...note };
}

/** Work that a write keeps is due then. */
export function dueTimeOf(work: SendWork | NoteWork): number {
  return work.kind === "send" ? work.signal.sentAt : work.dueAt;
}

/** The body of a row of work: all but its id and its target. */
export function workText(work: SignalWork): string {
  const { workId: _, target: _t, ...body } = work;
  return JSON.stringify(body);
}

export function readWork(workId: string, target: string, text: string): SignalWork {
  return { workId, target, ...JSON.parse(text) };
}
