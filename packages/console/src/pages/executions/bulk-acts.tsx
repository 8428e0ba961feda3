// What can be done with many executions at once: cancel, replay, copy their ids. One after the other, with a progress bar.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { cancel, replay } from "../../api/acts.ts";
import { workflowQuery } from "../../api/queries.ts";
import type { ExecutionSummary } from "../../api/types.ts";
import { useCopy } from "../../parts/copy.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { plural } from "../../words/numbers.ts";

export function BulkActs({
  executions,
  onDone,
}: {
  readonly executions: readonly ExecutionSummary[];
  readonly onDone: () => void;
}) {
  const client = useQueryClient();
  const [asking, setAsking] = useState<"cancel" | "replay">();
  const [progress, setProgress] = useState<number>();
  const [refused, setRefused] = useState(0);
  const [copied, copy] = useCopy();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && asking === undefined && onDone();
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [asking, onDone]);
  const open = executions.filter(({ status }) => status === "running" || status === "suspended");
  const ended = executions.filter(({ status }) => status !== "running");

  // Not waited for by the dialog, which would stand before the progress bar until the end.
  const each = async (
    some: readonly ExecutionSummary[],
    act: (execution: ExecutionSummary) => Promise<unknown>,
  ) => {
    let failed = 0;
    setProgress(0);
    for (const [index, execution] of some.entries()) {
      await act(execution).catch(() => {
        failed += 1;
      });
      setProgress((index + 1) / some.length);
    }
    setRefused(failed);
    await client.invalidateQueries({ queryKey: ["executions"] });
    setProgress(undefined);
    if (failed === 0) onDone();
  };
  const replayFromWhereItStood = async ({ workflowId, executionId, stepIndex }: ExecutionSummary) => {
    const { steps } = await client.ensureQueryData(workflowQuery(workflowId));
    const step = steps[Math.min(stepIndex, steps.length - 1)];
    if (step === undefined) throw new Error("the workflow has no steps");
    return replay(workflowId, executionId, step.id);
  };

  return (
    <div className="bulk" role="toolbar" aria-label="Acts on what is chosen">
      <b>{executions.length} selected</b>
      {progress !== undefined && <progress value={progress} aria-label="Progress" />}
      {refused > 0 && <span role="alert">{plural(refused, "was", "were")} refused</span>}
      <button type="button" disabled={ended.length === 0} onClick={() => setAsking("replay")}>
        Replay…
      </button>
      <button type="button" disabled={open.length === 0} onClick={() => setAsking("cancel")}>
        Cancel…
      </button>
      <button type="button" onClick={() => copy(executions.map(({ executionId }) => executionId).join("\n"))}>
        {copied ? "Copied" : "Copy ids"}
      </button>
      <button type="button" onClick={onDone}>
        esc
      </button>
      {asking === "cancel" && (
        <Confirm
          title={`Cancel ${plural(open.length, "execution")}?`}
          act={`Cancel ${plural(open.length, "execution")}`}
          danger
          onClose={() => setAsking(undefined)}
          onConfirm={() => void each(open, ({ executionId }) => cancel(executionId))}
        >
          What runs is told to stop and what waits is closed. What their steps have done so far is not undone.
        </Confirm>
      )}
      {asking === "replay" && (
        <Confirm
          title={`Replay ${plural(ended.length, "execution")}?`}
          act={`Replay ${plural(ended.length, "execution")}`}
          onClose={() => setAsking(undefined)}
          onConfirm={() => void each(ended, replayFromWhereItStood)}
        >
          Each gets a new execution that begins at the step where the old one stood, with what came before it
          taken over. The old ones stay as they are.
        </Confirm>
      )}
    </div>
  );
}
