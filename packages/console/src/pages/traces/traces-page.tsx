// Traces, newest first.
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { tracesQuery } from "../../api/queries.ts";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Problem } from "../../components/problem.tsx";
import { Status } from "../../components/status.tsx";
import { Clock, Elapsed } from "../../components/time.tsx";
import { shortId } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import "../executions/executions.css";

const kinds = [
  [undefined, "Everything"],
  ["workflow", "workflows"],
  ["agent", "agents"],
] as const;

export function TracesPage() {
  const { tab, workflowId, agentId } = useSearch({ strict: false });
  const entityId = workflowId ?? agentId;
  const kind = kinds.find(([each]) => each === tab)?.[0];
  const entityType = agentId !== undefined ? "agent" : workflowId !== undefined ? "workflow" : kind;
  const list = useInfiniteQuery(tracesQuery({ entityType, entityId, limit: 100 }));
  const { error, hasNextPage, isFetchingNextPage } = list;
  const traces = list.data?.pages.flatMap((page) => page.traces);
  return (
    <Page title="Traces">
      <div className="filters">
        {kinds.map(([kind, label]) => (
          <Link
            key={label}
            to="/traces"
            search={kind === undefined ? {} : { tab: kind }}
            className={entityType === kind && entityId === undefined ? "chip on" : "chip"}
          >
            {label}
          </Link>
        ))}
        {entityId !== undefined && (
          <Link to="/traces" className="chip on">
            {entityId} ✕
          </Link>
        )}
      </div>
      <div className="content">
        <Problem error={error} what="The traces cannot be read" />
        {list.isPending && <Skeleton />}
        {traces?.length === 0 && (
          <div className="empty">
            <h2>No traces yet</h2>
            <p>
              Every execution and every call of an agent is a trace: which steps, models and tools took how
              long.
            </p>
          </div>
        )}
        <table className="plain">
          {traces !== undefined && traces.length > 0 && (
            <thead>
              <tr>
                <th>Status</th>
                <th>Workflow or agent</th>
                <th>Trace</th>
                <th>Execution</th>
                <th className="right">Started</th>
                <th className="right">Duration</th>
              </tr>
            </thead>
          )}
          <tbody>
            {traces?.map(
              ({
                traceId,
                rootSpanId,
                entityType: kind,
                entityId: id,
                executionId,
                startTime,
                endTime,
                status,
              }) => (
                <tr key={`${traceId} ${rootSpanId}`} className="opens">
                  <td style={{ width: 140 }}>
                    <Status status={status} />
                  </td>
                  <td>
                    <Link to="/traces/$traceId" params={{ traceId }}>
                      <b style={{ fontWeight: 560 }}>{id}</b> <span className="faint">{kind}</span>
                    </Link>
                  </td>
                  <td className="mono faint">{shortId(traceId)}</td>
                  <td>{executionId && <ExecutionLink className="quiet mono" id={executionId} />}</td>
                  <td className="right faint">
                    <Clock time={startTime} />
                  </td>
                  <td className="right num">
                    <Elapsed from={startTime} to={endTime} />
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
        {hasNextPage && (
          <p className="padded">
            <button
              type="button"
              className="btn"
              disabled={isFetchingNextPage}
              onClick={() => void list.fetchNextPage()}
            >
              Show older traces
            </button>
          </p>
        )}
      </div>
    </Page>
  );
}
