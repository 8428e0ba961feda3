// One schedule: its next times, the days on which clocks change, its occurrences, and its commands.
import type { Schedule, ScheduleOccurrences } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { schedulePreviewQuery, scheduleQuery } from "../../api/queries.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Fact } from "../../components/fact.tsx";
import { JsonView } from "../../components/json-view.tsx";
import { Problem } from "../../components/problem.tsx";
import { Clock, useNow } from "../../components/time.tsx";
import { dueText } from "../../format/due.ts";
import { count, duration, period, plural, shortId } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { ScheduleActions } from "./schedule-actions.tsx";
import { OutcomePill, ScheduleState, Target } from "./schedule-facts.tsx";
import {
  outcomeTone,
  outcomeWord,
  readersZone,
  shiftWords,
  timeIn,
  timingOf,
  timingWords,
} from "./timing.ts";
import "../execution/execution.css";
import "./schedules.css";

type Occurrence = ScheduleOccurrences["occurrences"][number];

export function SchedulePage() {
  const { scheduleId = "" } = useParams({ strict: false });
  const { data, error, isPending } = useQuery(scheduleQuery(scheduleId));
  return (
    <Page title={scheduleId} crumbs={[{ name: "Schedules", to: "/schedules" }]}>
      <Problem padded error={error} what="The schedule cannot be read" />
      {isPending && <Skeleton />}
      {data && (
        <>
          <Heading schedule={data.schedule} />
          <div className="content">
            <div className="schedule">
              <Upcoming schedule={data.schedule} />
              <About schedule={data.schedule} />
              <Occurrences occurrences={data.occurrences} agentId={data.schedule.agentId} />
            </div>
          </div>
        </>
      )}
    </Page>
  );
}

function Heading({ schedule }: { readonly schedule: Schedule }) {
  const { started, skipped, missed, waiting } = schedule;
  return (
    <div className="heading">
      <div className="title">
        <h2 className="cut mono">{timingWords(schedule)}</h2>
        <ScheduleState schedule={schedule} />
      </div>
      <Fact before="starts" value={<Target schedule={schedule} />} />
      <Fact value={count(started)} after="started" />
      <Fact value={count(skipped)} after="skipped" />
      <Fact value={count(missed)} after="missed" />
      {waiting > 0 && <Fact value={count(waiting)} after="waiting" />}
      <div className="acts">
        <ScheduleActions schedule={schedule} />
      </div>
    </div>
  );
}

/** The next five times, and the next two changes of the zone's clocks. */
function Upcoming({ schedule }: { readonly schedule: Schedule }) {
  const { data, error } = useQuery(schedulePreviewQuery(timingOf(schedule)));
  const zone = schedule.zone ?? "UTC";
  const stopped = schedule.state === "active" ? "" : ` It is ${schedule.state}, and fires at none of them.`;
  return (
    <>
      <section className="card" aria-labelledby="next-times">
        <h2 id="next-times">Next times</h2>
        <Problem padded error={error} what="The times cannot be computed" />
        {data?.times.length === 0 && <p className="muted">There is no next time.</p>}
        {data !== undefined && data.times.length > 0 && <Times zone={zone} times={data.times} />}
        {data !== undefined && (
          <p className="muted">
            {data.follows === "wall clock"
              ? `It follows the clocks of ${zone}.`
              : "It follows elapsed time, whatever clocks do."}
            {stopped}
          </p>
        )}
      </section>
      {data !== undefined && data.changes.length > 0 && (
        <section className="card" aria-labelledby="clock-changes">
          <h2 id="clock-changes">When clocks change</h2>
          {data.changes.map(({ at, minutes, times }) => (
            <div key={at}>
              <p>
                <b>{timeIn(zone, at)}</b> clocks are {shiftWords(minutes)}.{" "}
                {times.length === 0 && <span className="muted">It does not fire around that time.</span>}
              </p>
              {times.length > 0 && <Times zone={zone} times={times.slice(0, shownBeside)} />}
              {times.length > shownBeside && (
                <p className="muted">and {plural(times.length - shownBeside, "more time")}</p>
              )}
            </div>
          ))}
        </section>
      )}
    </>
  );
}

/** Times beside a change of clocks. */
const shownBeside = 5;

function Times({ zone, times }: { readonly zone: string; readonly times: readonly string[] }) {
  const now = useNow();
  const isOther = zone !== readersZone;
  return (
    <table className="plain">
      <thead>
        <tr>
          <th>{zone}</th>
          {isOther && <th>Here ({readersZone})</th>}
          <th className="right">
            <span className="hidden-label">From now</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {times.map((time) => (
          <tr key={time}>
            <td className="num">{timeIn(zone, time)}</td>
            {isOther && <td className="num">{timeIn(readersZone, time)}</td>}
            <td className="right faint">{dueText(time, now)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function About({ schedule }: { readonly schedule: Schedule }) {
  const { origin, revision, overlap, catchUp, jitter, window, pauseOnFailure, userId, tags, workflowId } =
    schedule;
  const facts: readonly (readonly [string, string | null | false])[] = [
    ["Declared", origin === "code" ? "in code: it can be paused here, and changed there" : "at run time"],
    ["Revision", String(revision)],
    ["From", schedule.from && timeIn(readersZone, schedule.from)],
    ["To", schedule.to && timeIn(readersZone, schedule.to)],
    ["Overlap", workflowId !== null && overlap],
    ["Catch-up", catchUp === "none" ? "none" : `${catchUp}, up to ${period(window)}`],
    ["Jitter", jitter > 0 && period(jitter)],
    ["Paused after", pauseOnFailure !== null && plural(pauseOnFailure, "failure")],
    ["User", userId],
    ["Tags", tags.length > 0 && tags.join(", ")],
    ["Prompt", schedule.prompt],
    ["Conversation", schedule.conversationId],
  ];
  return (
    <section className="card" aria-labelledby="about-schedule">
      <h2 id="about-schedule">Options</h2>
      <dl className="schedule-facts">
        {facts.map(
          ([name, value]) =>
            typeof value === "string" && (
              <div key={name} style={{ display: "contents" }}>
                <dt>{name}</dt>
                <dd dir="auto">{value}</dd>
              </div>
            ),
        )}
      </dl>
      {schedule.input !== null && workflowId !== null && (
        <div style={{ padding: "0 16px 16px" }}>
          <JsonView label="Input" value={schedule.input} />
        </div>
      )}
    </section>
  );
}

/** The strip has the oldest first, the table the newest. */
function Occurrences({
  occurrences,
  agentId,
}: {
  readonly occurrences: readonly Occurrence[];
  readonly agentId: string | null;
}) {
  return (
    <section className="card whole" aria-labelledby="occurrences">
      <h2 id="occurrences">
        Occurrences <small>the last {count(occurrences.length)}</small>
      </h2>
      {occurrences.length === 0 ? (
        <p className="muted">None so far.</p>
      ) : (
        <>
          <div className="outcomes" role="img" aria-label={summaryOf(occurrences)}>
            {occurrences.toReversed().map(({ at, outcome, decidedAt }) => (
              <i
                key={`${at} ${decidedAt} ${outcome}`}
                data-tone={outcomeTone(outcome)}
                title={`${timeIn(readersZone, at)}: ${outcomeWord(outcome)}`}
              />
            ))}
          </div>
          <table className="plain">
            <thead>
              <tr>
                <th>Time</th>
                <th>Outcome</th>
                <th className="right">Late</th>
                <th>{agentId === null ? "Execution" : "Conversation"}</th>
                <th className="right">Decided</th>
              </tr>
            </thead>
            <tbody>
              {occurrences.map((occurrence) => (
                <OccurrenceRow
                  key={`${occurrence.at} ${occurrence.decidedAt} ${occurrence.outcome}`}
                  occurrence={occurrence}
                  agentId={agentId}
                />
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}

function OccurrenceRow({
  occurrence,
  agentId,
}: {
  readonly occurrence: Occurrence;
  readonly agentId: string | null;
}) {
  const { at, outcome, count: represented, late, executionId, conversationId, decidedAt } = occurrence;
  return (
    <tr>
      <td className="num">
        {timeIn(readersZone, at)}
        {represented > 1 && <span className="faint"> and {count(represented - 1)} before it</span>}
      </td>
      <td>
        <OutcomePill outcome={outcome} />
      </td>
      <td className="right num faint">{late > 0 && duration(late)}</td>
      <td>
        {executionId !== null && conversationId === null && (
          <ExecutionLink className="link mono" id={executionId} />
        )}
        {conversationId !== null && agentId !== null && (
          <Link
            className="link mono"
            to="/agents/$agentId"
            params={{ agentId }}
            search={{ chat: conversationId }}
          >
            {shortId(conversationId)}
          </Link>
        )}
      </td>
      <td className="right faint">
        <Clock time={decidedAt} />
      </td>
    </tr>
  );
}

/** "98 started, 2 missed". */
function summaryOf(occurrences: readonly Occurrence[]): string {
  const words = Map.groupBy(occurrences, ({ outcome }) => outcomeWord(outcome));
  return [...words].map(([word, some]) => `${some.length} ${word}`).join(", ");
}
