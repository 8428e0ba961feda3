// The events of a journal that no rewind has left behind.
import type { StoredEvent } from "../../src/store/stored-event.ts";

export function countingEvents(events: readonly StoredEvent[]): readonly StoredEvent[] {
  let counting: StoredEvent[] = [];
  for (const event of events) {
    if (event.type !== "execution-rewound") counting.push(event);
    else counting = counting.filter((each) => each.path === null || isBefore(each, event));
  }
  return counting;
}

function isBefore({ stepIndex }: StoredEvent, rewound: StoredEvent): boolean {
  return (stepIndex ?? 0) < (rewound.stepIndex ?? 0);
}
