// The time of a journal does not run backwards, whichever process writes to it and with any clock.

/** The events with no time before `last` or before the event in front of them: the same array where that is so already. */
export function inTime<Event extends { readonly timestamp: number }>(
  events: readonly Event[],
  last: number,
): readonly Event[] {
  if (isInTime(events, last)) return events;
  let latest = last;
  return events.map((event) => {
    latest = Math.max(latest, event.timestamp);
    return event.timestamp === latest ? event : { ...event, timestamp: latest };
  });
}

function isInTime(events: readonly { readonly timestamp: number }[], last: number): boolean {
  let latest = last;
  for (const { timestamp } of events) {
    if (timestamp < latest) return false;
    latest = timestamp;
  }
  return true;
}
