// Facts of a schedule that its page and the list share.
import type { Schedule } from "@andante/client";
import { Link } from "@tanstack/react-router";
import { type Outcome, outcomeTone, outcomeWord } from "./timing.ts";

/** The workflow whose executions it starts, or the agent that it asks. */
export function Target({ schedule: { workflowId, agentId } }: { readonly schedule: Schedule }) {
  if (workflowId !== null)
    return (
      <Link className="cut" to="/workflows/$workflowId" params={{ workflowId }}>
        {workflowId}
      </Link>
    );
  if (agentId === null) return null;
  return (
    <Link className="cut" to="/agents/$agentId" params={{ agentId }}>
      {agentId}
    </Link>
  );
}

const tones = { active: "ok", paused: "wait", removed: "off", broken: "bad" } as const;

export function ScheduleState({ schedule: { state, note, pausedBy } }: { readonly schedule: Schedule }) {
  const why = [pausedBy === null ? undefined : `by ${pausedBy}`, note ?? undefined]
    .filter(Boolean)
    .join(": ");
  return (
    <span className="row">
      <span className="pill" data-tone={tones[state]}>
        {state}
      </span>
      {why !== "" && (
        <span className="cut faint" title={why} dir="auto">
          {why}
        </span>
      )}
    </span>
  );
}

export function OutcomePill({ outcome }: { readonly outcome: Outcome }) {
  return (
    <span className="pill" data-tone={outcomeTone(outcome)}>
      {outcomeWord(outcome)}
    </span>
  );
}
