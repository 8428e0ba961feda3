// Replays a run from its journal, forwards and backwards.
import { Pause, Play } from "lucide-react";
import { useEffect, useState } from "react";
import type { ExecutionEvent } from "../../api/types.ts";
import { useKeys } from "../../components/use-keys.ts";
import { duration } from "../../format/numbers.ts";

/** Milliseconds between two frames, and the number of frames of a whole run. */
const frame = 60;
const frames = 100;

export function Scrubber({
  events,
  position,
  onMove,
  onStep,
}: {
  readonly events: readonly ExecutionEvent[];
  /** The number of events up to this position. */
  readonly position: number;
  /** Called with the new position; undefined follows the end. */
  readonly onMove: (position: number | undefined) => void;
  /** Called with 1 for the next event and -1 for the one before: the scrubber moves there, and its step is selected. */
  readonly onStep: (by: number) => void;
}) {
  const [playing, setPlaying] = useState(false);
  const total = events.length;
  const toggle = () => {
    if (!playing && position >= total) onMove(1);
    setPlaying(!playing);
  };
  useEffect(() => {
    if (!playing) return;
    if (position >= total) {
      setPlaying(false);
      onMove(undefined);
      return;
    }
    const next = setTimeout(
      () => onMove(Math.min(total, position + Math.ceil(total / frames))),
      total < 30 ? 200 : frame,
    );
    return () => clearTimeout(next);
  }, [playing, position, total, onMove]);
  useKeys((event, field) => {
    if (event.metaKey || event.ctrlKey || field !== null) return;
    // A button that has the focus handles the key itself.
    if (event.key === " " && !(event.target instanceof HTMLElement && event.target.closest("button"))) {
      event.preventDefault();
      toggle();
    }
    if (total === 0) return;
    if (event.key === "j") onStep(1);
    if (event.key === "k") onStep(-1);
  });
  const at = events[Math.max(0, position - 1)];
  const since =
    at === undefined ? 0 : Date.parse(at.timestamp) - Date.parse(events[0]?.timestamp ?? at.timestamp);
  return (
    <div className="scrubber">
      <button
        type="button"
        className="btn icon"
        aria-label={playing ? "Pause" : "Play the run again"}
        onClick={toggle}
      >
        {playing ? <Pause aria-hidden="true" /> : <Play aria-hidden="true" />}
      </button>
      <input
        type="range"
        min={Math.min(1, total)}
        max={total}
        value={position}
        aria-label="Event"
        onChange={(event) => {
          const next = Number(event.target.value);
          onMove(next >= total ? undefined : next);
        }}
      />
      <span className="mono muted num">
        event {position} of {total} · +{duration(since)}
      </span>
    </div>
  );
}
