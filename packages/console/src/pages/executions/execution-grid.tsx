// The rows of the list; renders only visible rows.
import { useNavigate } from "@tanstack/react-router";
import { type MouseEvent, memo, useCallback, useEffect, useRef } from "react";
import { consoleRoot, part } from "../../api/andante.ts";
import type { ExecutionSummary } from "../../api/types.ts";
import { Clock, Elapsed, useFresh } from "../../components/time.tsx";
import { useVirtualRows, VirtualRows } from "../../components/virtual-rows.tsx";
import { shortId } from "../../format/numbers.ts";
import { Progress, RowStatus, StepAt, useStepsCounts } from "./row-cells.tsx";
import { type Selection, selectionOf, withRange } from "./selection.ts";

const rowHeight = 34;
/** The next page is requested this many rows before the end, so that it is loaded before the user reaches it. */
const ahead = 60;

export function ExecutionGrid({
  rows,
  chosen,
  onChoose,
  onHold,
  more,
}: {
  readonly rows: readonly ExecutionSummary[];
  readonly chosen: Selection;
  readonly onChoose: (chosen: Selection) => void;
  /** Called when the pointer enters and leaves the list: its rows stay in place meanwhile. */
  readonly onHold: (isHeld: boolean) => void;
  /** Reads the next page; undefined when there is none, or it is being loaded. */
  readonly more: (() => void) | undefined;
}) {
  const counts = useStepsCounts();
  const list = useVirtualRows(rows.length, rowHeight, { overscan: 6, scrollPaddingStart: rowHeight });
  const lastShown = list.virtual.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (lastShown >= rows.length - ahead) more?.();
  }, [lastShown, rows.length, more]);
  const allChosen = rows.length > 0 && rows.every(({ executionId }) => chosen.has(executionId));
  const latest = useRef({ chosen, onChoose, rows });
  latest.current = { chosen, onChoose, rows };
  /** The row that was clicked last: a range begins there. */
  const anchor = useRef<string>(undefined);
  // A stable function, so that unchanged rows are not rendered again.
  const toggle = useCallback(({ executionId }: ExecutionSummary, isRange: boolean) => {
    const { chosen, onChoose, rows } = latest.current;
    const from = isRange ? anchor.current : executionId;
    anchor.current = executionId;
    onChoose(withRange(chosen, rows, from ?? executionId, executionId));
  }, []);
  const navigate = useNavigate();
  const open = useCallback(
    (executionId: string) => void navigate({ to: "/executions/$executionId", params: { executionId } }),
    [navigate],
  );
  const head = (
    <div className="grid-head">
      <span className="tick">
        <input
          type="checkbox"
          aria-label="Choose all that are shown"
          checked={allChosen}
          onChange={() => onChoose(selectionOf(allChosen ? [] : rows))}
        />
      </span>
      <span>Status</span>
      <span>Workflow</span>
      <span>Execution</span>
      <span>User</span>
      <span>{rows[0]?.matches === undefined ? "Current step" : "Match"}</span>
      <span>Steps</span>
      <span className="right">Started</span>
      <span className="right">Duration</span>
    </div>
  );
  return (
    <VirtualRows list={list} rows={rows} className="grid" label="Executions" head={head} onHold={onHold}>
      {(row, start) => (
        <Row
          key={row.executionId}
          row={row}
          start={start}
          chosen={chosen.has(row.executionId)}
          counts={counts}
          onToggle={toggle}
          onOpen={open}
        />
      )}
    </VirtualRows>
  );
}

const Row = memo(function Row({
  row,
  start,
  chosen,
  counts,
  onToggle,
  onOpen,
}: {
  readonly row: ExecutionSummary;
  readonly start: number;
  readonly chosen: boolean;
  readonly counts: ReadonlyMap<string, number>;
  readonly onToggle: (row: ExecutionSummary, isRange: boolean) => void;
  readonly onOpen: (executionId: string) => void;
}) {
  const { executionId, status, workflowId, userId, startAt, endAt } = row;
  const fresh = useFresh(status, row.stepPath);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the id inside is a link
    // biome-ignore lint/a11y/useKeyWithClickEvents: the id inside is a link
    <div
      className={`grid-row${chosen ? " chosen" : ""}${fresh ? " fresh" : ""}`}
      data-status={status}
      style={{ transform: `translateY(${start}px)` }}
      onClick={() => onOpen(executionId)}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a click beside the box must not open the row */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the box has its own keys */}
      <span className="tick" onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          aria-label={`Choose ${executionId}`}
          checked={chosen}
          onChange={({ nativeEvent }) =>
            onToggle(row, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)
          }
        />
      </span>
      <span>
        <RowStatus row={row} />
      </span>
      <b style={{ fontWeight: 560 }}>{workflowId}</b>
      {/* Not the router's link, whose subscriptions are half the work of a row. */}
      <a
        className="mono"
        href={`${consoleRoot}executions/${part(executionId)}`}
        title={executionId}
        onClick={leaveToRow}
      >
        {shortId(executionId)}
      </a>
      <span className="muted">{userId ?? "–"}</span>
      <span className="muted" title={titleOf(row)}>
        <StepAt row={row} />
      </span>
      <Progress row={row} counts={counts} />
      <span className="right faint">
        <Clock time={startAt} />
      </span>
      <span className="right num">
        <Elapsed from={startAt} to={endAt} />
      </span>
    </div>
  );
});

/** The text of a cell that may be cut: all matches of a search, the reason of a wait, or the whole error. */
function titleOf({ matches, explanation, error }: ExecutionSummary): string | undefined {
  const found = matches?.map(({ path, value }) => `${path}: ${value}`).join("\n");
  return found ?? explanation?.sentence ?? error?.message;
}

/** A plain click is handled by the row; with a modifier key the browser opens the link in a new tab or window. */
function leaveToRow(event: MouseEvent): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) event.stopPropagation();
  else event.preventDefault();
}
