// The statement that keeps work of signals.
import { dueTimeOf, type NoteWork, type SendWork, type SignalWork, workText } from "@andante/core/store";
import type { Statement } from "../connection/parameters.ts";

/** Work that other writes keep. */
export type KeptWork = SendWork | NoteWork;

export const keptWorkStatement = (s: string, works: readonly KeptWork[]): Statement =>
  workStatement(s, works, works.map(dueTimeOf));

/** Work that is there already stays. */
export function workStatement(s: string, works: readonly SignalWork[], dueAt: readonly number[]): Statement {
  return [
    `insert into ${s}.signal_work (work_id, target, due_at, body)
     select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) on conflict do nothing`,
    [works.map(({ workId }) => workId), works.map(({ target }) => target), dueAt, works.map(workText)],
  ];
}
