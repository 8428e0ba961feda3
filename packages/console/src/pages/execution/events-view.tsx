// The event log: the journal line by line; renders only visible lines.
import { memo, useEffect, useMemo } from "react";
import type { ExecutionEvent } from "../../api/types.ts";
import { bringIntoSight, useVirtualRows, VirtualRows } from "../../components/virtual-rows.tsx";
import { preciseClock } from "../../format/numbers.ts";
import { definitionPath } from "../../run/step-runs.ts";
import { eventText, eventTone, stepOf } from "./event-text.ts";

const rowHeight = 29;

export function EventsView({
  events,
  shown,
  input,
  position,
  selected,
  onSelect,
}: {
  readonly events: readonly ExecutionEvent[];
  /** The indices of the shown events; undefined for all. */
  readonly shown: readonly number[] | undefined;
  readonly input: unknown;
  /** The number of events up to the scrubber's position. */
  readonly position: number;
  readonly selected: string | undefined;
  /** Called with the index of the chosen event. The same function, so that unchanged lines are not rendered again. */
  readonly onSelect: (index: number) => void;
}) {
  const rows = useMemo(() => shown?.flatMap((index) => events[index] ?? []) ?? events, [events, shown]);
  const list = useVirtualRows(rows.length, rowHeight, { overscan: 16 });
  const { virtual } = list;
  // The rows above and below the list appear after it, and take of its height.
  const height = virtual.scrollRect?.height ?? 0;
  useEffect(() => {
    if (height === 0) return;
    const at = shown === undefined ? position - 1 : shown.findLastIndex((index) => index < position);
    if (at >= 0) bringIntoSight(virtual, at);
  }, [position, shown, virtual, height]);
  const row = (event: ExecutionEvent, start: number, at: number) => {
    const index = shown?.[at] ?? at;
    return (
      <EventRow
        key={event.sequence ?? index}
        event={event}
        index={index}
        input={input}
        start={start}
        ahead={index >= position}
        selected={isOf(event, selected)}
        current={index === position - 1}
        onSelect={onSelect}
      />
    );
  };
  return (
    <VirtualRows list={list} rows={rows} className="events scroll" label="Events">
      {row}
    </VirtualRows>
  );
}

function isOf(event: ExecutionEvent, selected: string | undefined): boolean {
  const path = stepOf(event);
  if (path === undefined || selected === undefined) return false;
  return path === selected || definitionPath(path) === selected;
}

const EventRow = memo(function EventRow({
  event,
  index,
  input,
  start,
  ahead,
  selected,
  current,
  onSelect,
}: {
  readonly event: ExecutionEvent;
  readonly index: number;
  readonly input: unknown;
  readonly start: number;
  readonly ahead: boolean;
  readonly selected: boolean;
  readonly current: boolean;
  readonly onSelect: (index: number) => void;
}) {
  return (
    <button
      type="button"
      className="event"
      data-kind={eventTone(event.type)}
      data-selected={selected}
      data-ahead={ahead}
      aria-current={current ? "step" : undefined}
      style={{ transform: `translateY(${start}px)` }}
      onClick={() => onSelect(index)}
    >
      <span className="faint num right">{event.sequence}</span>
      <span className="mono faint at">{preciseClock(event.timestamp)}</span>
      <span className="type cut">{event.type}</span>
      <span className="cut muted" dir="auto">
        {eventText(event, input)}
      </span>
    </button>
  );
});
