// The statement that keeps work of signals.
import { type SignalWork, workText } from "@andante/core/store";
import type { Statement } from "../connection/parameters.ts";

/** An event that a body sends. */
export type SendWork = Extract<SignalWork, { readonly kind: "send" }>;

/** Work that is there already stays. `dueAt`: default the time of the event. */
export function workStatement(s: string, works: readonly SendWork[]): Statement;
export function workStatement(s: string, works: readonly SignalWork[], dueAt: number): Statement;
export function workStatement(s: string, works: readonly SignalWork[], dueAt?: number): Statement {
  const sentAt = (work: SignalWork) => (work.kind === "send" ? work.signal.sentAt : 0);
  return [
    `insert into ${s}.signal_work (work_id, target, due_at, body)
     select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) on conflict do nothing`,
    [
      works.map(({ workId }) => workId),
      works.map(({ target }) => target),
      works.map((work) => dueAt ?? sentAt(work)),
      works.map(workText),
    ],
  ];
}
