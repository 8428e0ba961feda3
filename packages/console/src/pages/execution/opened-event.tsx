// The event at the scrubber in full: every field, with its whole values.
import { ChevronDown, ChevronUp, X } from "lucide-react";
import type { ExecutionEvent } from "../../api/types.ts";
import { JsonView } from "../../components/json-view.tsx";
import { preciseClock } from "../../format/numbers.ts";

export function OpenedEvent({
  event,
  onMove,
  onClose,
}: {
  readonly event: ExecutionEvent;
  /** Called with -1 for the event before, 1 for the next. */
  readonly onMove: (by: number) => void;
  readonly onClose: () => void;
}) {
  const { type, executionId: _, timestamp, sequence, ...fields } = event;
  return (
    <section className="opened-event" aria-label={`Event ${sequence}`}>
      <div className="row">
        <b className="cut">{type}</b>
        <time className="mono faint" dateTime={timestamp}>
          {preciseClock(timestamp)}
        </time>
        <span className="grow" />
        <button type="button" className="btn plain icon" aria-label="Event before" onClick={() => onMove(-1)}>
          <ChevronUp />
        </button>
        <button type="button" className="btn plain icon" aria-label="Next event" onClick={() => onMove(1)}>
          <ChevronDown />
        </button>
        <button type="button" className="btn plain icon" aria-label="Close the event" onClick={onClose}>
          <X />
        </button>
      </div>
      <JsonView key={sequence} label="event" value={fields} />
    </section>
  );
}
