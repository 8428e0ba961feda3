// The selected step: its status, input and output, attempts and logs, and the form when it waits.
import type { ExecutionState, Step, Suspension, WorkflowDetail } from "@andante/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { andante } from "../../api/andante.ts";
import { executionLogsQuery, serverQuery } from "../../api/queries.ts";
import { ErrorText } from "../../components/error-text.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { LogLines } from "../../components/log-line.tsx";
import { Status } from "../../components/status.tsx";
import { Ago, Clock, useNow } from "../../components/time.tsx";
import { draftKey } from "../../form/draft.ts";
import { LazyForm } from "../../form/lazy-form.tsx";
import { startingPoint } from "../../form/starting-point.ts";
import { deadlineWords } from "../../format/due.ts";
import { count, duration, plural, preciseClock } from "../../format/numbers.ts";
import { stepStatusLabel } from "../../format/status.ts";
import type { Run } from "../../run/run-history.ts";
import {
  type Attempt,
  attemptsOf,
  type Checkpoint,
  definitionPath,
  findStep,
  type Answer as Given,
  ownerPath,
  type StepRun,
  tookOf,
} from "../../run/step-runs.ts";
import { ReplayDialog } from "./execution-actions.tsx";

export function StepPanel({
  state,
  workflow,
  run,
  steps,
  selected,
  onAnswered,
}: {
  readonly state: ExecutionState;
  readonly workflow: WorkflowDetail | undefined;
  readonly run: Run;
  readonly steps: readonly Step[];
  readonly selected: string | undefined;
  readonly onAnswered: () => void;
}) {
  if (selected === undefined) return <aside className="detail" />;
  const path = definitionPath(selected);
  const step = findStep(steps, path.split("/"));
  const rounds = run.rounds(path);
  const one = run.get(selected) ?? rounds?.last;
  const open = state.suspensions?.filter(({ stepPath }) => isOf(stepPath, one?.path ?? selected)) ?? [];
  return (
    <aside className="detail" aria-label="Selected step">
      <div className="row">
        <h3 className="cut" dir="auto">
          {step?.name ?? selected}
        </h3>
        {one ? (
          <Status status={one.status} word={stepStatusLabel(one.status)} />
        ) : (
          <Status status="off" word="not started" />
        )}
      </div>
      <div className="sub">{subtitle(step, one, steps)}</div>
      {step?.purpose && <p className="muted">{step.purpose}</p>}
      {rounds && rounds.total > 1 && (
        <p className="muted">
          {count(rounds.total)} rounds; this is {one?.path}
        </p>
      )}
      {open.map((suspension) => (
        <Answer key={suspension.suspensionId} state={state} suspension={suspension} onAnswered={onAnswered} />
      ))}
      {one && <Answers answers={run.answers(one.path)} />}
      {one && <Details run={one} state={state} checkpoints={run.checkpoints(one.path)} />}
      {step && workflow && state.status !== "running" && workflow.steps.includes(step) && (
        <ReplayFrom state={state} steps={steps} step={step} />
      )}
    </aside>
  );
}

/** Whether the suspension is of this step, one of its tools or models, or of the whole execution. */
function isOf(stepPath: string | undefined, path: string): boolean {
  return stepPath === undefined || ownerPath(stepPath) === path;
}

function subtitle(step: Step | undefined, run: StepRun | undefined, steps: readonly Step[]): string {
  const at = step === undefined ? -1 : steps.indexOf(step);
  const attempts = run === undefined ? 0 : attemptsOf(run);
  const words = [
    step?.type ?? run?.type ?? "",
    at === -1 ? "" : `step ${at + 1} of ${steps.length}`,
    attempts > 1 ? `attempt ${attempts}` : "",
    run?.endAt != null && run.status !== "suspended" ? duration(tookOf(run, run.endAt)) : "",
  ];
  return words.filter((word) => word !== "").join(" · ");
}

function ReplayFrom({
  state,
  steps,
  step,
}: {
  readonly state: ExecutionState;
  readonly steps: readonly Step[];
  readonly step: Step;
}) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className="btn" style={{ marginTop: 16 }} onClick={() => setAsking(true)}>
        Replay from here…
      </button>
      {asking && <ReplayDialog state={state} steps={steps} from={step.id} onClose={() => setAsking(false)} />}
    </>
  );
}

/** The suspension and the form for its resume data; a pause has no form, because continuing needs no data. */
function Answer({
  state,
  suspension,
  onAnswered,
}: {
  readonly state: ExecutionState;
  readonly suspension: Suspension;
  readonly onAnswered: () => void;
}) {
  const client = useQueryClient();
  const now = useNow();
  const { data: server } = useQuery(serverQuery);
  const { suspensionId, reason, data, deadline, resumeSchema } = suspension;
  const answer = async (value: unknown) => {
    const execution = andante.workflow(state.workflowId).execution(state.executionId);
    await execution.startResume(value, { suspensionId });
    onAnswered();
    await client.invalidateQueries({ queryKey: ["execution", state.executionId] });
  };
  return (
    <>
      <dl className="pairs">
        <dt>Asked</dt>
        <dd>
          <Ago time={suspension.suspendedAt} suffix=" ago" />
        </dd>
        {deadline !== undefined && (
          <>
            <dt>Deadline</dt>
            <dd>{deadlineWords(suspension, now)}</dd>
          </>
        )}
        <dt>Reason</dt>
        <dd dir="auto">{reason || "none given"}</dd>
      </dl>
      {data !== undefined && (
        <div className="asked" style={{ marginTop: 10 }}>
          <JsonView label="data" value={data} />
        </div>
      )}
      {suspension.stepPath !== undefined && state.status === "suspended" && (
        <section className="asks" aria-label="Answer">
          <h4>Answer</h4>
          <LazyForm
            key={suspensionId}
            schema={resumeSchema}
            initial={startingPoint(suspension)}
            submit="Resume"
            draft={draftKey(server?.user?.id, state.executionId, suspension)}
            onSubmit={answer}
          />
        </section>
      )}
    </>
  );
}

/** The answers to the suspensions of a step, each with its user and the time that it took. */
function Answers({ answers }: { readonly answers: readonly Given[] }) {
  if (answers.length === 0) return null;
  return (
    <section aria-label="Answers">
      <h4>{plural(answers.length, "answer")}</h4>
      {answers.map(({ position, suspension, answeredAt, userId, byDeadline, data }) => (
        <div key={position} className="given">
          <dl className="pairs">
            <dt>Asked</dt>
            <dd dir="auto">{suspension.reason || "without a reason"}</dd>
            <dt>Answered by</dt>
            <dd dir="auto">{byDeadline ? "its deadline" : (userId ?? "a caller without an id")}</dd>
            <dt>After</dt>
            <dd>
              {duration(answeredAt - Date.parse(suspension.suspendedAt))}, at{" "}
              <Clock time={isoOf(answeredAt)} />
            </dd>
          </dl>
          {suspension.data !== undefined && <JsonView label="data of the question" value={suspension.data} />}
          <JsonView label="answer" value={data ?? null} />
        </div>
      ))}
    </section>
  );
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}

/** The kept results inside a step, newest last; an old one can be opened in the event log. */
function Checkpoints({ checkpoints }: { readonly checkpoints: readonly Checkpoint[] }) {
  if (checkpoints.length === 0) return null;
  const shown = checkpoints.slice(-20);
  return (
    <section aria-label="Checkpoints">
      <h4>
        Checkpoints{" "}
        {checkpoints.length > shown.length && `(the last ${shown.length} of ${count(checkpoints.length)})`}
      </h4>
      {shown.map(({ position, name, startAt, endAt, output, error, retryAt }) => (
        <details key={position} className="checkpoint">
          <summary>
            <code>{name}</code>{" "}
            <span className="faint num">
              {error === undefined ? duration(endAt - startAt) : "failed"}
              {retryAt !== undefined && `, next attempt at ${preciseClock(retryAt)}`}
            </span>
          </summary>
          {error === undefined ? (
            <JsonView label={`value of ${name}`} value={output ?? null} />
          ) : (
            <p className="failure">{error}</p>
          )}
        </details>
      ))}
    </section>
  );
}

function attemptTime({ startAt, endAt }: Attempt, now: number): string {
  if (startAt > now) return `starts in ${duration(startAt - now)}, at ${preciseClock(startAt)}`;
  return endAt === null ? "under way" : duration(endAt - startAt);
}

function Details({
  run,
  state,
  checkpoints,
}: {
  readonly run: StepRun;
  readonly state: ExecutionState;
  readonly checkpoints: readonly Checkpoint[];
}) {
  const { data: logs = [] } = useQuery(executionLogsQuery(state.executionId));
  const now = useNow(run.endAt === null);
  const own = logs.filter(({ stepPath }) => stepPath === run.path);
  return (
    <>
      {run.error !== undefined && run.status !== "completed" && (
        <>
          <h4>Error</h4>
          <ErrorText text={run.error} />
        </>
      )}
      {run.usage && (
        <>
          <h4>Tokens</h4>
          <p className="num">
            {count(run.usage.inputTokens)} in, {count(run.usage.outputTokens)} out ·{" "}
            {plural(run.usage.calls, "model call")}
          </p>
        </>
      )}
      {run.input !== undefined && run.input !== null && (
        <>
          <h4>Input</h4>
          <JsonView label="input of the step" value={run.input} />
        </>
      )}
      {run.status === "completed" && (
        <>
          <h4>Output</h4>
          <JsonView label="output of the step" value={run.output ?? null} />
        </>
      )}
      {run.attempts.length > 1 && (
        <>
          <h4>Attempts</h4>
          <ol className="attempts">
            {run.attempts.map((attempt, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: append-only, and starts may be equal
              <li key={index}>
                {attempt.resumed ? "resumed" : attemptsOf({ attempts: run.attempts.slice(0, index + 1) })} ·{" "}
                {attemptTime(attempt, now)}
                {attempt.error && attempt.error !== run.error && (
                  <div className="failure cut" dir="auto" title={attempt.error}>
                    {attempt.error}
                  </div>
                )}
              </li>
            ))}
          </ol>
        </>
      )}
      <Checkpoints checkpoints={checkpoints} />
      {own.length > 0 && (
        <>
          <h4>Logs</h4>
          <LogLines lines={own.slice(-20)} />
        </>
      )}
    </>
  );
}
