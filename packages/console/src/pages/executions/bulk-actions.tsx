// Commands on many executions: cancel, replay, copy their ids. Runs one after the other, with a progress bar.
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { andante } from "../../api/andante.ts";
import { workflowQuery } from "../../api/queries.ts";
import type { ExecutionSummary } from "../../api/types.ts";
import { useCopy } from "../../components/copy.tsx";
import { Confirm } from "../../components/dialog.tsx";
import { useKeys } from "../../components/use-keys.ts";
import { plural } from "../../format/numbers.ts";

export function BulkActions({
  executions,
  onChoose,
}: {
  readonly executions: readonly ExecutionSummary[];
  /** Called with the new selection. */
  readonly onChoose: (left: readonly ExecutionSummary[]) => void;
}) {
  const client = useQueryClient();
  const [asking, setAsking] = useState<"cancel" | "replay">();
  const [progress, setProgress] = useState<number>();
  const [failure, setFailure] = useState<string>();
  const busy = progress !== undefined;
  const clear = () => {
    setFailure(undefined);
    onChoose([]);
  };
  const latest = useRef(executions);
  latest.current = executions;
  const [copied, copy] = useCopy();
  useKeys((event) => {
    // An Escape that closes a dialog must not clear the selection.
    if (event.key === "Escape" && !event.defaultPrevented && asking === undefined && !busy) clear();
  });
  const open = executions.filter(({ status }) => status === "running" || status === "suspended");
  const ended = executions.filter(({ status }) => status !== "running");

  // The dialog does not wait for it, since it would cover the progress bar until the end.
  const each = async (
    some: readonly ExecutionSummary[],
    act: (execution: ExecutionSummary) => Promise<unknown>,
  ) => {
    const failed = new Map<string, unknown>();
    setFailure(undefined);
    setProgress(0);
    for (const [index, execution] of some.entries()) {
      await act(execution).catch((problem: unknown) => failed.set(execution.executionId, problem));
      setProgress((index + 1) / some.length);
    }
    setFailure(failureText([...failed.values()], some.length));
    await client.invalidateQueries({ queryKey: ["executions"] });
    setProgress(undefined);
    // Failed executions stay selected, unless the selection was cleared meanwhile.
    onChoose(latest.current.filter(({ executionId }) => failed.has(executionId)));
  };
  const replayFromWhereItStood = async ({ workflowId, executionId, stepIndex }: ExecutionSummary) => {
    const { steps } = await client.ensureQueryData(workflowQuery(workflowId));
    const step = steps[Math.min(stepIndex, steps.length - 1)];
    if (step === undefined) throw new Error("the workflow has no steps");
    return andante.workflow(workflowId).execution(executionId).startReplay({ stepId: step.id });
  };

  if (executions.length === 0 && !busy && failure === undefined) return null;
  return (
    <div className="bulk" role="toolbar" aria-label="Actions for selected executions">
      <b>{executions.length} selected</b>
      {busy && <progress value={progress} aria-label="Progress" />}
      {failure !== undefined && <span role="alert">{failure}</span>}
      <button type="button" disabled={busy || ended.length === 0} onClick={() => setAsking("replay")}>
        Replay…
      </button>
      <button type="button" disabled={busy || open.length === 0} onClick={() => setAsking("cancel")}>
        Cancel…
      </button>
      <button type="button" onClick={() => copy(executions.map(({ executionId }) => executionId).join("\n"))}>
        {copied ? "Copied" : "Copy ids"}
      </button>
      <button type="button" disabled={busy} onClick={clear}>
        Clear
      </button>
      {asking === "cancel" && (
        <Confirm
          title={`Cancel ${plural(open.length, "execution")}?`}
          act={`Cancel ${plural(open.length, "execution")}`}
          danger
          onClose={() => setAsking(undefined)}
          onConfirm={() => void each(open, ({ executionId }) => andante.execution(executionId).cancel())}
        >
          Running executions stop, and waiting ones end. The effects of their steps are not undone.
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
          taken over. The old ones stay as they are. What the steps do outside, such as sending a message,
          they do again.
        </Confirm>
      )}
    </div>
  );
}

/** The number of failed requests, and the message of the first. */
function failureText(problems: readonly unknown[], total: number): string | undefined {
  const [first] = problems;
  if (problems.length === 0) return undefined;
  return `${problems.length} of ${total} did not work: ${first instanceof Error ? first.message : String(first)}`;
}
