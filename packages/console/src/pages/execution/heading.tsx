// The heading of an execution: its workflow, its status, and its commands.
import type { ExecutionState, Step, WorkflowDetail } from "@andante/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { memo, useState } from "react";
import { address, part, serverRoot } from "../../api/andante.ts";
import { executionsQuery, explanationQuery } from "../../api/queries.ts";
import { currentToken } from "../../api/token.ts";
import { useCopy } from "../../components/copy.tsx";
import { ErrorText } from "../../components/error-text.tsx";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Fact } from "../../components/fact.tsx";
import { Choice, Menu } from "../../components/menu.tsx";
import { Sentence } from "../../components/sentence.tsx";
import { Status } from "../../components/status.tsx";
import { Clock, Elapsed, useNow } from "../../components/time.tsx";
import { curlCommand } from "../../format/curl.ts";
import { amount, count, duration } from "../../format/numbers.ts";
import { shownStatus } from "../../format/status.ts";
import { topLevelId } from "../../run/step-runs.ts";
import { CancelDialog, Continue, ReplayDialog, RunAgainDialog, SuspendDialog } from "./execution-actions.tsx";

/** Replays in the heading of their source. */
const shownReplays = 5;

/** Not rendered again for each event at the scrubber. */
export const Heading = memo(function Heading({
  state,
  workflow,
  steps,
  failure,
  failed,
  active,
  onSelect,
}: {
  readonly state: ExecutionState;
  readonly workflow: WorkflowDetail | undefined;
  readonly steps: readonly Step[];
  /** The error from its journal. */
  readonly failure: string | undefined;
  /** The path of the step that failed. */
  readonly failed: string | undefined;
  /** Milliseconds in which its steps ran. */
  readonly active: number;
  readonly onSelect: (path: string) => void;
}) {
  const { data: explanation } = useQuery(explanationQuery(state.executionId));
  const [asking, setAsking] = useState<"again" | "cancel" | "replay" | "suspend">();
  const { status, startAt, endAt, usage, parked, replayOf, error, workflowId, input, cause } = state;
  const userId = state.context.userId;
  const isOpen = status === "running" || status === "suspended";
  const close = () => setAsking(undefined);
  return (
    <>
      <div className="heading">
        <div className="title">
          <h2 className="cut" dir="auto">
            {workflow?.name ?? workflowId}
          </h2>
          <Status status={shownStatus(status, { parked, kind: explanation?.waits[0]?.kind })} />
        </div>
        <Fact before="started" value={<Clock time={startAt} />} />
        {typeof userId === "string" && <Fact before="by" value={userId} />}
        {cause !== undefined && "scheduleId" in cause && (
          <Fact
            before="by the schedule"
            value={
              <Link to="/schedules/$scheduleId" params={{ scheduleId: cause.scheduleId }}>
                {cause.scheduleId}
              </Link>
            }
            after={
              <>
                of <Clock time={cause.at} />
              </>
            }
          />
        )}
        {cause !== undefined && "eventId" in cause && (
          <Fact
            before="by the event"
            value={
              <Link to="/events/$eventId" params={{ eventId: cause.eventId }}>
                {cause.event}
              </Link>
            }
          />
        )}
        <Times from={startAt} to={endAt} active={active} />
        {usage && <Fact value={count(usage.totalTokens)} after="tokens" />}
        {usage?.money !== undefined && (
          <Fact
            before={usage.unpricedCalls === undefined ? "cost" : "cost of the calls with a price"}
            value={amount(usage.money)}
          />
        )}
        {state.tags?.map((tag) => (
          <Link key={tag} className="chip" to="/executions" search={{ tag }}>
            {tag}
          </Link>
        ))}
        <div className="acts">
          <CopyMenu workflowId={workflowId} input={input} />
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
          {workflow && (
            <button type="button" className="btn" onClick={() => setAsking("again")}>
              Run again…
            </button>
          )}
          {isOpen && (
            <button type="button" className="btn danger" onClick={() => setAsking("cancel")}>
              Cancel
            </button>
          )}
        </div>
      </div>
      {isOpen && explanation && explanation.waits[0]?.kind !== "running" && (
        <p className="note-bar" role="status" aria-label="Why it waits" dir="auto">
          <Sentence text={explanation.sentence} distances />
        </p>
      )}
      {replayOf && (
        <p className="note-bar">
          A replay of <ExecutionLink className="link mono" id={replayOf.executionId} /> from {replayOf.stepId}
        </p>
      )}
      {status !== "running" && <Replays executionId={state.executionId} />}
      {status === "error" && <Failure text={failure ?? error ?? ""} step={failed} onSelect={onSelect} />}
      {asking === "cancel" && <CancelDialog state={state} onClose={close} />}
      {asking === "suspend" && <SuspendDialog state={state} onClose={close} />}
      {asking === "replay" && (
        <ReplayDialog state={state} steps={steps} from={failed && topLevelId(failed)} onClose={close} />
      )}
      {asking === "again" && workflow && <RunAgainDialog state={state} workflow={workflow} onClose={close} />}
    </>
  );
});

/** The newest replays of an execution, with a link to all of them. */
function Replays({ executionId }: { readonly executionId: string }) {
  const { data } = useInfiniteQuery(executionsQuery({ replayOf: executionId }, shownReplays));
  const replays = data?.pages[0]?.executions ?? [];
  if (replays.length === 0) return null;
  return (
    <p className="note-bar replays">
      Replayed as
      {replays.map(({ executionId: id, replayOf, status, parked, explanation }) => (
        <span key={id} title={`from ${replayOf?.stepId}`}>
          <ExecutionLink className="link mono" id={id} />{" "}
          <Status status={shownStatus(status, { parked, kind: explanation?.kind })} />
        </span>
      ))}
      {data?.pages[0]?.nextCursor && (
        <Link className="link" to="/executions" search={{ replayOf: executionId }}>
          Show all
        </Link>
      )}
    </p>
  );
}

/** Its error: one line where the step that failed has the whole text. */
function Failure({
  text,
  step,
  onSelect,
}: {
  readonly text: string;
  readonly step: string | undefined;
  readonly onSelect: (path: string) => void;
}) {
  if (text === "") return null;
  return (
    <div className="note-bar bad row">
      {step === undefined ? (
        <ErrorText text={text} />
      ) : (
        <>
          <span className="cut grow" dir="auto">
            {text.split("\n", 1)[0]?.slice(0, 300)}
          </span>
          <button
            type="button"
            className="text-button"
            onClick={() => {
              onSelect(step);
              // On a narrow page it is below the graph and the events.
              document.querySelector(".detail")?.scrollIntoView({ block: "nearest" });
            }}
          >
            Show {step}
          </button>
        </>
      )}
    </div>
  );
}

/** Its duration, as the time in which its steps ran and the time in which it waited, where it did. */
function Times({
  from,
  to,
  active,
}: {
  readonly from: string;
  readonly to: string | null;
  readonly active: number;
}) {
  const now = useNow(to === null);
  const waiting = (to === null ? now : Date.parse(to)) - Date.parse(from) - active;
  if (waiting < 1000)
    return <Fact before={to === null ? "for" : "took"} value={<Elapsed from={from} to={to} />} />;
  return (
    <>
      <Fact before="active" value={duration(active)} />
      <Fact before="waiting" value={duration(waiting)} />
    </>
  );
}

/** Copies the start of the execution. */
function CopyMenu({ workflowId, input }: Pick<ExecutionState, "workflowId" | "input">) {
  const [copied, copy, failed] = useCopy();
  const label = failed ? "Copy failed" : copied ? "Copied" : "Copy";
  return (
    <Menu label={label} className="btn">
      <Choice onSelect={() => copy(clientCode(workflowId, input))}>Copy as code</Choice>
      <Choice onSelect={() => copy(curl(`/workflows/${part(workflowId)}/execute`, { input }))}>
        Copy as curl
      </Choice>
    </Menu>
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
