// Rules for the fold of any journal: it can be packed after any event and continued, and the fold that a process packs
// when an execution goes idle equals the fold of the journal.
import { decodeEvent } from "../../src/journal/codec.ts";
import type { JournalEvent } from "../../src/journal/events.ts";
import { Journal, type PathState, replayEvents } from "../../src/journal/journal.ts";
import { packJournal, TextNumbers, unpackJournal } from "../../src/journal/packed-journal.ts";
import { ExecutionSpans } from "../../src/observe/trace/execution-spans.ts";
import type { Snapshot } from "../../src/store/store.ts";
import type { StoredEvent } from "../../src/store/stored-event.ts";

/** A fold of the first events of a journal. */
interface Fold {
  readonly journal: Journal;
  readonly spans: ExecutionSpans;
}

/** A snapshot of the first events and the rest come to the same as all of them, wherever it is taken: of at most 60. */
export function foldProblems(stored: readonly StoredEvent[]): string[] {
  const events = stored.map(decodeEvent);
  const whole = view(foldOf(events));
  const first = foldOf([]);
  const problems: string[] = [];
  // Of a long journal each so manieth: the time for all of them grows with the square.
  const every = Math.ceil(events.length / 60);
  for (const [index, event] of events.entries()) {
    add(first, [event]);
    if (index % every !== 0) continue;
    const fold = packed(first);
    add(fold, events.slice(index + 1));
    const seen = view(fold);
    if (seen !== whole)
      problems.push(`packed after event ${index + 1} it comes to ${seen}, expected ${whole}`);
  }
  return problems;
}

/** The kept fold is the fold of as many events. */
export function snapshotProblems(snapshots: readonly Snapshot[], stored: readonly StoredEvent[]): string[] {
  return snapshots.flatMap(({ sequence, body }) => {
    const { texts, journal, spans } = JSON.parse(body);
    const fold = foldOf(stored.slice(0, sequence).map(decodeEvent));
    // A snapshot without spans leaves them to the journal.
    const kept = view({
      journal: unpackJournal(journal, texts),
      spans: spans === undefined ? fold.spans : spansOf(spans),
    });
    const expected = view(fold);
    return kept === expected ? [] : [`the snapshot at ${sequence} holds ${kept}, expected ${expected}`];
  });
}

function foldOf(events: readonly JournalEvent[]): Fold {
  const fold = { journal: new Journal(), spans: spansOf() };
  add(fold, events);
  return fold;
}

function add({ journal, spans }: Fold, events: readonly JournalEvent[]): void {
  replayEvents(journal, events);
  spans.replay(events);
}

/** Through JSON, as the store keeps it. */
function packed({ journal, spans }: Fold): Fold {
  const numbers = new TextNumbers();
  const body = JSON.stringify({ journal: packJournal(journal, numbers), spans: spans.pack() });
  const read = JSON.parse(body);
  return { journal: unpackJournal(read.journal, numbers.texts), spans: spansOf(read.spans) };
}

function spansOf(before?: string): ExecutionSpans {
  const execution = { executionId: "e", workflowId: "w", userId: null, conversationId: null };
  const listener = { wants: () => false, started: () => undefined, ended: () => undefined };
  return new ExecutionSpans(execution, listener, before);
}

/** Its public state, independent of the order in which paths became known. */
function view({ journal, spans }: Fold): string {
  const { paths, past, newest, older, state, checkpoints, resumes } = journal.parts;
  const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);
  const { open = [], ...root }: { open?: { path: string }[] } = JSON.parse(spans.pack() ?? "{}");
  return JSON.stringify({
    paths: Array.from(paths, ([path, each]) => [path, viewState(each)] as const).sort(byName),
    past: Array.from(past?.steps ?? [], ([path, each]) => [path, viewState(each)]),
    reached: Array.from(past?.reached ?? [], ([index, each]) => [index, [...each].sort()]),
    newest: Array.from(
      newest,
      ([id, each]) => [id, [...(older?.get(id) ?? []), each].map(viewState)] as const,
    ).sort(byName),
    state: (state?.groups ?? []).map(({ stepIndex, keys }) => [stepIndex, [...keys]]),
    checkpoints: Array.from(
      checkpoints?.bodies ?? [],
      ([path, { checkpoints: recorded, ...body }]) => [path, { ...body, recorded: [...recorded] }] as const,
    ).sort(byName),
    resumes,
    root,
    open: open.map((span) => [span.path, span] as const).sort(byName),
  });
}

function viewState(state: PathState): unknown {
  const { stepIndex, sequence, started, startedAt, input, outcome } = state;
  if (outcome === undefined) return state;
  if (outcome.kind !== "error") return { stepIndex, sequence, started, startedAt, input, outcome };
  // Whether callers may see a message is left out where they may not.
  const { name, message, step, public: shown = false } = outcome.error;
  return { stepIndex, sequence, started, startedAt, input, error: { name, message, step, shown } };
}
