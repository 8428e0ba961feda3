// Facts of an event that its page and the list share.
import type { SentEvent } from "@andante/client";
import { NamedExecution } from "../../components/execution-link.tsx";
import { count } from "../../format/numbers.ts";

/** Whether it has started, continued or cancelled an execution. */
export function EventState({ event: { unmatched } }: { readonly event: Pick<SentEvent, "unmatched"> }) {
  return (
    <span
      className="pill"
      data-tone={unmatched ? "off" : "ok"}
      title={unmatched ? "No workflow started with it, and no execution waited for it, so far" : undefined}
    >
      {unmatched ? "unmatched" : "matched"}
    </span>
  );
}

const shown = 2;

/** Links to the first executions, and how many others there are. */
export function Executions({ ids, total }: { readonly ids: readonly string[]; readonly total: number }) {
  if (total === 0) return <span className="faint">–</span>;
  const named = ids.slice(0, shown);
  return (
    <span className="executions-cell">
      {named.map((id) => (
        <NamedExecution key={id} id={id} />
      ))}
      {total > named.length && <span className="faint num">and {count(total - named.length)}</span>}
    </span>
  );
}
