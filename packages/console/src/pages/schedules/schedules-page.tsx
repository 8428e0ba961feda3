// All schedules: the next time of each, the outcome of its last occurrence, and why one does not fire.
import type { Schedule } from "@andante/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { schedulesQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { ShowMore } from "../../components/show-more.tsx";
import { Ago, useNow } from "../../components/time.tsx";
import { dueText } from "../../format/due.ts";
import { count, duration } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { OutcomePill, ScheduleState, Target } from "./schedule-facts.tsx";
import { readersZone, timeIn, timingWords } from "./timing.ts";
import "../executions/executions.css";
import "./schedules.css";

export function SchedulesPage() {
  const list = useInfiniteQuery(schedulesQuery);
  const { data, error, isPending, hasNextPage } = list;
  const schedules = data?.pages.flatMap((page) => page.schedules) ?? [];
  return (
    <Page title="Schedules">
      <div className="content schedules">
        <Problem padded error={error} what="The schedules cannot be read" />
        {isPending && <Skeleton />}
        {data !== undefined && schedules.length === 0 && (
          <div className="empty">
            <h2>Nothing is scheduled</h2>
            <p>
              Give a workflow or an agent <code className="mono">schedules</code>, or set one at run time with{" "}
              <code className="mono">andante.schedules.set</code>.
            </p>
          </div>
        )}
        {schedules.length > 0 && (
          <table className="plain">
            <thead>
              <tr>
                <th>Schedule</th>
                <th className="minor">Starts</th>
                <th className="minor">When</th>
                <th>State</th>
                <th>Next</th>
                <th className="minor">Last</th>
                <th className="right minor">Started</th>
                <th className="right minor">Skipped</th>
                <th className="right minor">Missed</th>
              </tr>
            </thead>
            <tbody>
              {schedules.map((schedule) => (
                <Row key={schedule.scheduleId} schedule={schedule} />
              ))}
            </tbody>
          </table>
        )}
        {hasNextPage && (
          <p className="padded">
            <ShowMore pages={list} />
          </p>
        )}
      </div>
    </Page>
  );
}

function Row({ schedule }: { readonly schedule: Schedule }) {
  const { scheduleId, nextAt, last, started, skipped, missed } = schedule;
  return (
    <tr>
      <td>
        <Link className="cut" to="/schedules/$scheduleId" params={{ scheduleId }} title={scheduleId}>
          {scheduleId}
        </Link>
      </td>
      <td>
        <Target schedule={schedule} />
      </td>
      <td className="mono">
        <span className="cut" title={timingWords(schedule)}>
          {timingWords(schedule)}
        </span>
      </td>
      <td>
        <ScheduleState schedule={schedule} />
      </td>
      <td className="num">{nextAt === null ? "–" : <Next time={nextAt} />}</td>
      <td>
        {last === null ? (
          "–"
        ) : (
          <span className="row">
            <OutcomePill outcome={last.outcome} />
            <span className="faint">
              <Ago time={last.at} suffix=" ago" />
              {last.late > 0 && ` · ${duration(last.late)} late`}
            </span>
          </span>
        )}
      </td>
      <td className="right num">{count(started)}</td>
      <td className="right num">{count(skipped)}</td>
      <td className="right num">{count(missed)}</td>
    </tr>
  );
}

function Next({ time }: { readonly time: string }) {
  return (
    <time dateTime={time} title={timeIn(readersZone, time)}>
      {dueText(time, useNow())}
    </time>
  );
}
