// The four numbers at the top of Home, each with a small chart of the last hour.
import type { Activity, ActivityPoint, Inbox, ServerStatus } from "@andante/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { SparkBars, SparkLine } from "../../components/spark.tsx";
import { useNow } from "../../components/time.tsx";
import { dueText } from "../../format/due.ts";
import { age, count, duration, share } from "../../format/numbers.ts";

function Figure({
  label,
  value,
  more,
  tone,
  children,
  chart,
}: {
  readonly label: ReactNode;
  readonly value: number | undefined;
  /** Whether the number is higher than `value`. */
  readonly more?: boolean | undefined;
  readonly tone?: string;
  readonly children: ReactNode;
  readonly chart: ReactNode;
}) {
  return (
    <section className="card quarter figure">
      <div className="label">{label}</div>
      <div className="big num" style={tone ? { color: `var(--${tone})` } : {}}>
        {value === undefined ? "–" : count(value)}
        {more && "+"}
      </div>
      <div className="sub cut">{children}</div>
      {chart}
    </section>
  );
}

/** Sums of `size` points each: sixty minutes as twelve bars. */
function grouped(
  points: readonly ActivityPoint[],
  size: number,
  of: (point: ActivityPoint) => number,
): number[] {
  const sums: number[] = [];
  points.forEach((point, index) => {
    const at = Math.floor(index / size);
    sums[at] = (sums[at] ?? 0) + of(point);
  });
  return sums;
}

/** The highest p50 of `size` points each; an interval without completed executions repeats the previous value. */
function latencies(points: readonly ActivityPoint[], size: number): number[] {
  const longest: number[] = [];
  points.forEach(({ p50 }, index) => {
    const at = Math.floor(index / size);
    longest[at] = Math.max(longest[at] ?? 0, p50 ?? 0);
  });
  longest.forEach((value, index) => {
    if (value === 0) longest[index] = longest[index - 1] ?? 0;
  });
  return longest;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

export function Figures({
  server,
  activity,
  inbox,
}: {
  readonly server: ServerStatus | undefined;
  readonly activity: Activity | undefined;
  readonly inbox: Inbox | undefined;
}) {
  const points = activity?.points ?? [];
  const completed = sum(points.map((point) => point.completed));
  const failed = sum(points.map((point) => point.failed));
  const started = sum(points.map((point) => point.started));
  // A user that sees only its own executions does not get the number of all running ones.
  const seesAll = server === undefined || server.slots.running !== null;
  return (
    <>
      <Figure
        label={seesAll ? "Running now" : "Started, last hour"}
        value={seesAll ? (server?.slots.running ?? undefined) : activity && started}
        chart={<SparkLine tone="run" values={grouped(points, 5, (point) => point.started)} />}
      >
        {seesAll ? server && <Slots server={server} /> : "by you"}
      </Figure>
      <Figure
        label="Waiting for a person"
        value={inbox?.counts?.total}
        more={inbox?.counts?.complete === false}
        chart={<AskedLately inbox={inbox} />}
      >
        <Oldest inbox={inbox} />
      </Figure>
      <Figure
        label="Completed, last hour"
        value={activity && completed}
        chart={
          <div className="sparks" title="How many completed; below, how long half of them took at most">
            <SparkLine area tone="ok" values={grouped(points, 5, (point) => point.completed)} />
            <SparkLine tone="run" values={latencies(points, 5)} />
          </div>
        }
      >
        {activity &&
          (activity.p50 === null
            ? "none yet"
            : `p50 ${duration(activity.p50)} · p99 ${duration(activity.p99 ?? activity.p50)}`)}
        {activity?.complete === false && " · only the newest are counted"}
      </Figure>
      <Figure
        label="Failed, last hour"
        value={activity && failed}
        {...(failed > 0 && { tone: "bad" })}
        chart={<SparkBars tone="bad" values={grouped(points, 4, (point) => point.failed)} />}
      >
        {activity &&
          (failed === 0 ? (
            "nothing went wrong"
          ) : (
            <Failures activity={activity} failed={failed} of={completed + failed} />
          ))}
      </Figure>
    </>
  );
}

function Failures({
  activity,
  failed,
  of,
}: {
  readonly activity: Activity;
  readonly failed: number;
  /** The number of completed and failed executions. */
  readonly of: number;
}) {
  const [most] = [...activity.workflows].sort((one, other) => other.failed - one.failed);
  return (
    <>
      {share(failed, of)}
      {most !== undefined && (
        <>
          {most.failed === failed ? " · all in " : " · mostly in "}
          <Link to="/executions" search={{ status: "error", workflowId: most.workflowId }}>
            <b>{most.workflowId}</b>
          </Link>
        </>
      )}
    </>
  );
}

function Slots({ server: { slots, suspended } }: { readonly server: ServerStatus }) {
  return (
    <>
      of {count(slots.limit)} slots{suspended !== null && ` · ${count(suspended)} suspended`}
    </>
  );
}

/** When the questions that wait were asked, in eighths of the last hour; no bars where the newest are not read. */
function AskedLately({ inbox }: { readonly inbox: Inbox | undefined }) {
  const now = useNow();
  const ages = inbox?.items.map(({ suspension }) => now - Date.parse(suspension.suspendedAt)) ?? [];
  const eighth = 3_600_000 / 8;
  const asked = Array.from(
    { length: 8 },
    (_, bar) => ages.filter((each) => 7 - Math.floor(Math.max(0, each) / eighth) === bar).length,
  );
  return <SparkBars tone="wait-mark" values={inbox?.more ? [] : asked} />;
}

function Oldest({ inbox }: { readonly inbox: Inbox | undefined }) {
  const now = useNow();
  const [oldest] = inbox?.items ?? [];
  if (inbox === undefined) return null;
  if (oldest === undefined) return <>nothing waits</>;
  const [next] = inbox.items.flatMap(({ suspension }) => suspension.deadline ?? []).sort();
  return (
    <>
      oldest {age(now - Date.parse(oldest.suspension.suspendedAt))}
      {next !== undefined && ` · next deadline ${dueText(next, now)}`}
    </>
  );
}
