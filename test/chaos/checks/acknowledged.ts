// Every acknowledged call is in the journal.
import type { StoredEvent } from "@andante/core/store";
import type { Line } from "../side-log.ts";
import type { Check } from "./evidence.ts";

export const checkAcknowledged: Check = ({ after, lines }) => {
  if (after === undefined) {
    return lines.length === 0
      ? []
      : [`the execution does not exist, but the log knows it: ${lines[0]?.kind}`];
  }
  return lines
    .filter((line) => line.kind === "acknowledged")
    .filter((line) => !after.events.some((event) => keeps(event, line)))
    .map(({ call, suspensionId }) => `a ${call} was acknowledged and is lost (${suspensionId ?? ""})`);
};

function keeps(event: StoredEvent, line: Extract<Line, { kind: "acknowledged" }>): boolean {
  switch (line.call) {
    case "start":
      return event.type === "workflow-start";
    case "cancel":
      return event.type === "workflow-cancelled";
    case "pause":
      return event.type === "workflow-suspended" && names(event, line.suspensionId);
    case "resume":
      // A rewind closes every open suspension and names none.
      return (
        event.type === "execution-rewound" ||
        (event.type === "workflow-resumed" && names(event, line.suspensionId))
      );
  }
}

function names(event: StoredEvent, suspensionId: string | undefined): boolean {
  return suspensionId !== undefined && event.detail?.includes(suspensionId) === true;
}
