// The heading of an execution: its workflow, its status, and its commands.
import type { ExecutionState, Step, WorkflowDetail } from "@andante/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { address, part, serverRoot } from "../../api/andante.ts";
import { currentToken } from "../../api/token.ts";
import { CopyButton } from "../../components/copy.tsx";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Fact } from "../../components/fact.tsx";
import { Status } from "../../components/status.tsx";
import { Clock, Elapsed } from "../../components/time.tsx";
import { curlCommand } from "../../format/curl.ts";
import { count } from "../../format/numbers.ts";
import { CancelDialog, Continue, ReplayDialog, SuspendDialog } from "./execution-actions.tsx";

export function Heading({
  state,
  workflow,
  steps,
  failure,
}: {
  readonly state: ExecutionState;
  readonly workflow: WorkflowDetail | undefined;
  readonly steps: readonly Step[];
  /** The error from its journal. */
  readonly failure: string | undefined;
}) {
  const [asking, setAsking] = useState<"cancel" | "replay" | "suspend">();
  const { status, startAt, endAt, usage, parked, replayOf, error, workflowId, input } = state;
  const userId = state.context.userId;
  const isOpen = status === "running" || status === "suspended";
  const close = () => setAsking(undefined);
  return (
    <>
      <div className="heading">
        <div className="title">
          <h2 className="cut">{workflow?.name ?? workflowId}</h2>
          <Status status={parked ? "parked" : status} />
        </div>
        <Fact before="started" value={<Clock time={startAt} />} />
        {typeof userId === "string" && <Fact before="by" value={userId} />}
        <Fact before={isOpen ? "for" : "took"} value={<Elapsed from={startAt} to={endAt} />} />
        {usage && <Fact value={count(usage.totalTokens)} after="tokens" />}
        {state.tags?.map((tag) => (
          <Link key={tag} className="chip" to="/executions" search={{ tag }}>
            {tag}
          </Link>
        ))}
        <div className="acts">
          <CopyButton label="Copy as code" text={clientCode(workflowId, input)} />
          <CopyButton label="Copy as curl" text={curl(`/workflows/${part(workflowId)}/execute`, { input })} />
          <Continue state={state} />
          {status === "running" && (
            <button type="button" className="btn" onClick={() => setAsking("suspend")}>
              Pause…
            </button>
          )}
          {status !== "running" && workflow && (
            <button type="button" className="btn" onClick={() => setAsking("replay")}>
              Replay…
            </button>
          )}
          {isOpen && (
            <button type="button" className="btn danger" onClick={() => setAsking("cancel")}>
              Cancel
            </button>
          )}
        </div>
      </div>
      {parked && <p className="note-bar">Parked: {parked.reason}</p>}
      {replayOf && (
        <p className="note-bar">
          A replay of <ExecutionLink className="link mono" id={replayOf.executionId} /> from {replayOf.stepId}
        </p>
      )}
      {status === "error" && (failure ?? error) && <p className="note-bar bad">{failure ?? error}</p>}
      {asking === "cancel" && <CancelDialog state={state} onClose={close} />}
      {asking === "suspend" && <SuspendDialog state={state} onClose={close} />}
      {asking === "replay" && <ReplayDialog state={state} steps={steps} onClose={close} />}
    </>
  );
}

/** A call of the server as a shell command and as code, to copy. */
function curl(path: string, body?: unknown): string {
  return curlCommand(address(path), { body, hasToken: currentToken() !== null });
}

/** A start of the workflow with the client. */
function clientCode(workflowId: string, input: unknown): string {
  const token = currentToken() === null ? "" : ", token";
  return [
    `import { createClient } from "@andante/client";`,
    "",
    `const andante = createClient({ baseUrl: ${JSON.stringify(serverRoot.replace(/\/$/, ""))}${token} });`,
    `const { executionId, status, result } = await andante`,
    `  .workflow(${JSON.stringify(workflowId)})`,
    `  .execute(${JSON.stringify(input ?? null, null, 2).replaceAll("\n", "\n  ")});`,
    `console.log(executionId, status, result);`,
    "",
  ].join("\n");
}
