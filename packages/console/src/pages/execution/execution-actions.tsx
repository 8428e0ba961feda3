// Cancel, pause and replay: each asks for confirmation and describes its effects. Continuing after a pause needs none.
import type { ExecutionState, Step, WorkflowDetail } from "@andante/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { andante } from "../../api/andante.ts";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { Problem } from "../../components/problem.tsx";
import { LazyForm } from "../../form/lazy-form.tsx";

interface ActProps {
  readonly state: ExecutionState;
  readonly onClose: () => void;
}

const executionOf = ({ workflowId, executionId }: ExecutionState) =>
  andante.workflow(workflowId).execution(executionId);

export function CancelDialog({ state, onClose }: ActProps) {
  const client = useQueryClient();
  const act = async () => {
    await andante.execution(state.executionId).cancel();
    await client.invalidateQueries({ queryKey: ["execution", state.executionId] });
  };
  return (
    <Confirm
      title="Cancel this execution?"
      act="Cancel the execution"
      danger
      onClose={onClose}
      onConfirm={act}
    >
      Running steps are stopped, and what waits is closed. It cannot be resumed afterwards. What its steps
      have done so far is not undone.
    </Confirm>
  );
}

export function SuspendDialog({ state, onClose }: ActProps) {
  const client = useQueryClient();
  const act = async () => {
    await executionOf(state).suspend({ reason: "Paused from the console" });
    await client.invalidateQueries({ queryKey: ["execution", state.executionId] });
  };
  return (
    <Confirm title="Pause this execution?" act="Pause it" onClose={onClose} onConfirm={act}>
      The step that runs now may finish; nothing new starts until someone presses Continue. Timeouts are
      paused too.
    </Confirm>
  );
}

/** Lifts the pause of an execution; nothing is rendered for one that is not paused. */
export function Continue({ state }: Pick<ActProps, "state">) {
  const client = useQueryClient();
  const pause = state.suspensions?.find(({ stepPath }) => stepPath === undefined);
  const lift = useMutation({
    mutationFn: async (suspensionId: string) => {
      await executionOf(state).startResume(undefined, { suspensionId });
      await client.invalidateQueries({ queryKey: ["execution", state.executionId] });
    },
  });
  if (pause === undefined || state.status !== "suspended") return null;
  return (
    <>
      <Problem error={lift.error} what="It was not continued" />
      <button
        type="button"
        className="btn primary"
        disabled={lift.isPending}
        onClick={() => lift.mutate(pause.suspensionId)}
      >
        Continue
      </button>
    </>
  );
}

export function ReplayDialog({
  state,
  steps,
  from,
  onClose,
}: ActProps & { readonly steps: readonly Step[]; readonly from?: string | undefined }) {
  const navigate = useNavigate();
  const [stepId, setStepId] = useState(from ?? steps[0]?.id ?? "");
  const act = async () => {
    const { executionId } = await executionOf(state).startReplay({ stepId });
    await navigate({ to: "/executions/$executionId", params: { executionId }, search: {} });
  };
  return (
    <Confirm title="Replay this execution?" act="Replay" onClose={onClose} onConfirm={act}>
      <p>
        A new execution takes over what this one did before the step, and runs from there. This one stays as
        it is. What the steps do outside, such as sending a message, they do again.
      </p>
      <label className="field-label" style={{ marginTop: 12, color: "var(--ink)", display: "block" }}>
        From the step
        <select className="field" value={stepId} onChange={(event) => setStepId(event.target.value)}>
          {steps.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </Confirm>
  );
}

/** Starts a new execution with the input of this one, which can be edited first. */
export function RunAgainDialog({
  state,
  workflow,
  onClose,
}: ActProps & { readonly workflow: WorkflowDetail }) {
  const navigate = useNavigate();
  const run = async (input: unknown) => {
    const { executionId } = await andante.workflow(workflow.id).start(input);
    onClose();
    await navigate({ to: "/executions/$executionId", params: { executionId }, search: {} });
  };
  return (
    <Dialog open wide title="Run again with this input" onClose={onClose}>
      <p className="muted">A new execution starts from the first step. Edit the input before, if you like.</p>
      <LazyForm schema={workflow.inputSchema} initial={state.input} submit="Run" onSubmit={run} />
    </Dialog>
  );
}
