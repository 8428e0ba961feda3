// The commands of a schedule: run now, pause, resume, backfill with a look first, remove.
import type { Schedule } from "@andante/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { andante } from "../../api/andante.ts";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { Problem } from "../../components/problem.tsx";
import { plural } from "../../format/numbers.ts";
import { localField, readersZone, timeIn } from "./timing.ts";

interface ActProps {
  readonly schedule: Schedule;
  readonly onClose: () => void;
}

/** Reads the schedule again. */
function useRenewed(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ["schedules"] });
}

export function ScheduleActions({ schedule }: Pick<ActProps, "schedule">) {
  const { scheduleId, state, origin } = schedule;
  const renewed = useRenewed();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<"backfill" | "pause" | "remove" | "run">();
  const close = () => setAsking(undefined);
  const resume = useMutation({
    mutationFn: () => andante.schedules.resume(scheduleId),
    onSuccess: renewed,
  });
  const isRemovable = origin === "api" || state === "removed";
  return (
    <>
      <Problem error={resume.error} what="It was not resumed" />
      {state !== "removed" && (
        <button type="button" className="btn" onClick={() => setAsking("run")}>
          Run now…
        </button>
      )}
      {(state === "active" || state === "paused") && (
        <button type="button" className="btn" onClick={() => setAsking("backfill")}>
          Backfill…
        </button>
      )}
      {state === "active" && (
        <button type="button" className="btn" onClick={() => setAsking("pause")}>
          Pause…
        </button>
      )}
      {(state === "paused" || state === "broken") && (
        <button
          type="button"
          className="btn primary"
          disabled={resume.isPending}
          onClick={() => resume.mutate()}
        >
          Resume
        </button>
      )}
      {isRemovable && (
        <button type="button" className="btn danger" onClick={() => setAsking("remove")}>
          Remove…
        </button>
      )}
      {asking === "run" && (
        <Confirm
          title="Run it now?"
          act="Run now"
          onClose={close}
          onConfirm={async () => {
            const { executionId } = await andante.schedules.trigger(scheduleId);
            await renewed();
            if (schedule.workflowId !== null)
              await navigate({ to: "/executions/$executionId", params: { executionId }, search: {} });
          }}
        >
          It starts beside the times of the schedule, which stay as they are.
        </Confirm>
      )}
      {asking === "pause" && <PauseDialog schedule={schedule} onClose={close} />}
      {asking === "backfill" && <BackfillDialog schedule={schedule} onClose={close} />}
      {asking === "remove" && (
        <Confirm
          title="Remove this schedule?"
          act="Remove it"
          danger
          onClose={close}
          onConfirm={async () => {
            await andante.schedules.remove(scheduleId);
            await navigate({ to: "/schedules", search: {} });
            await renewed();
          }}
        >
          It fires no more. Executions that it has started go on.
        </Confirm>
      )}
    </>
  );
}

function PauseDialog({ schedule: { scheduleId }, onClose }: ActProps) {
  const renewed = useRenewed();
  const [reason, setReason] = useState("");
  const act = async () => {
    await andante.schedules.pause(scheduleId, { ...(reason !== "" && { reason }) });
    await renewed();
  };
  return (
    <Confirm title="Pause this schedule?" act="Pause it" onClose={onClose} onConfirm={act}>
      <p>Nothing is made up for the time of the pause. A backfill can start those occurrences later.</p>
      <label className="field-label" style={{ marginTop: 12, color: "var(--ink)", display: "block" }}>
        Reason
        <input className="field" value={reason} onChange={({ target }) => setReason(target.value)} />
      </label>
    </Confirm>
  );
}

const day = 86_400_000;

function BackfillDialog({ schedule: { scheduleId }, onClose }: ActProps) {
  const renewed = useRenewed();
  const [from, setFrom] = useState(() => localField(Date.now() - 7 * day));
  const [to, setTo] = useState(() => localField(Date.now()));
  const span = () => ({ from: new Date(from), to: new Date(to) });
  const look = useMutation({
    mutationFn: () => andante.schedules.backfill(scheduleId, { ...span(), dryRun: true }),
  });
  const start = useMutation({
    mutationFn: () => andante.schedules.backfill(scheduleId, span()),
    onSuccess: async () => {
      onClose();
      await renewed();
    },
  });
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    look.reset();
  };
  const times = look.data?.times;
  return (
    <Dialog open title="Backfill" onClose={onClose}>
      <p className="muted">
        Starts the occurrences of a time that has passed, one after the other. Those that ran are not run
        again.
      </p>
      <DateField label="From" value={from} onChange={change(setFrom)} />
      <DateField label="To" value={to} onChange={change(setTo)} />
      {times !== undefined && (
        <div role="status">
          <p>
            {times.length === 0 ? "There is nothing to start." : `${plural(times.length, "occurrence")}:`}
          </p>
          {times.length > 0 && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys scroll the element with the focus
            <ul className="backfill-times num" tabIndex={0} aria-label="Times">
              {times.map((time) => (
                <li key={time}>{timeIn(readersZone, time)}</li>
              ))}
            </ul>
          )}
        </div>
      )}
      <Problem error={look.error ?? start.error} what="That did not work" />
      <div className="acts">
        <button type="button" className="btn" onClick={onClose}>
          Go back
        </button>
        {times === undefined || times.length === 0 ? (
          <button
            type="button"
            className="btn primary"
            disabled={look.isPending || from === "" || to === ""}
            onClick={() => look.mutate()}
          >
            Show the times
          </button>
        ) : (
          <button
            type="button"
            className="btn primary"
            disabled={start.isPending}
            onClick={() => start.mutate()}
          >
            Start {plural(times.length, "occurrence")}
          </button>
        )}
      </div>
    </Dialog>
  );
}

function DateField({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  return (
    <label className="field-label" style={{ marginTop: 12, color: "var(--ink)", display: "block" }}>
      {label}
      <input
        className="field"
        type="datetime-local"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
