// The selected step and the position of the scrubber, which are in the address.
import { useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { useSearchChange } from "../../layout/search.ts";

export interface Place {
  readonly step?: string | undefined;
  /** The number of events up to the scrubber; undefined at the end, which moves with a running execution. */
  readonly event?: number | undefined;
}

/** Milliseconds without a move before the address has the place: browsers refuse hundreds of changes in a row. */
const rest = 200;

/** The place, and a function that changes parts of it; "now" changes the address at once. */
export function usePlace(): [place: Place, go: (change: Place, when?: "now") => void] {
  const change = useSearchChange();
  const { step, event } = useSearch({ strict: false });
  const [ahead, setAhead] = useState<Place>();
  const known: Place = {
    step,
    event: event !== undefined && /^\d{1,9}$/.test(event) ? Number(event) : undefined,
  };
  const place = ahead ?? known;
  const write = useCallback(
    (next: Place) => change({ step: next.step, event: next.event?.toString() }),
    [change],
  );
  useEffect(() => {
    if (ahead === undefined) return;
    const rested = setTimeout(() => write(ahead), rest);
    return () => clearTimeout(rested);
  }, [ahead, write]);
  // The address has caught up.
  if (ahead !== undefined && ahead.step === known.step && ahead.event === known.event) setAhead(undefined);
  const latest = useRef(place);
  latest.current = place;
  const go = useCallback(
    (part: Place, when?: "now") => {
      const next = { ...latest.current, ...part };
      setAhead(next);
      if (when === "now") write(next);
    },
    [write],
  );
  return [place, go];
}
