// Facts of an endpoint and of a delivery that their pages and lists share.
import type { Delivery, Endpoint } from "@andante/client";
import { Ago } from "../../components/time.tsx";
import { dueText } from "../../format/due.ts";
import type { Tone } from "../../format/status.ts";

export function EndpointState({ endpoint: { state, note, failingSince } }: { readonly endpoint: Endpoint }) {
  return (
    <span className="row">
      <span className="pill" data-tone={state === "active" ? "ok" : "off"}>
        {state}
      </span>
      {note !== null && (
        <span className="cut faint" title={note} dir="auto">
          {note}
        </span>
      )}
      {state === "active" && failingSince !== null && (
        <span className="cut faint">
          fails for <Ago time={failingSince} />
        </span>
      )}
    </span>
  );
}

const tones: Readonly<Record<Delivery["state"], Tone>> = {
  scheduled: "off",
  pending: "run",
  delivered: "ok",
  failed: "bad",
};

export function DeliveryState({ state }: Pick<Delivery, "state">) {
  return (
    <span className="pill" data-tone={tones[state]}>
      {state}
    </span>
  );
}

/** How many types of events there are. */
const allTypes = 4;

export function eventsOf({ on }: Endpoint): string {
  return on.length === allTypes ? "all" : on.join(", ");
}

export function workflowsOf({ workflows }: Endpoint): string {
  return workflows === null ? "all" : workflows.join(", ");
}

/** When the next attempt is made: one that waits for earlier events of its execution is due, and not made. */
export function nextAttempt(
  { nextAt, attempts }: Pick<Delivery, "nextAt" | "attempts">,
  now: number,
): string {
  if (nextAt === null) return "–";
  const due = dueText(nextAt, now);
  return due === "overdue" && attempts === 0 ? "in its turn" : due;
}

/** "HTTP 503", the words of an error, or nothing before the first attempt. */
export function answerOf({ status, error }: { status: number | null; error: string | null }): string {
  const code = status === null ? [] : [`HTTP ${status}`];
  return [...code, ...(error === null ? [] : [error])].join(": ");
}
