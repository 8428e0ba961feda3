// The executions that wait for an event, in groups of the same event and key.
import { useQuery } from "@tanstack/react-query";
import { eventWaitsQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { Ago } from "../../components/time.tsx";
import { count } from "../../format/numbers.ts";
import { Skeleton } from "../../layout/page.tsx";
import { Executions } from "./event-facts.tsx";
import { waitGroups } from "./wait-groups.ts";

export function OpenWaits({
  name,
  eventKey,
}: {
  readonly name: string | undefined;
  readonly eventKey: string | undefined;
}) {
  const { data, error, isPending } = useQuery(eventWaitsQuery);
  const groups = waitGroups(data?.items ?? []).filter(
    (group) =>
      (name === undefined || group.name === name) && (eventKey === undefined || group.key === eventKey),
  );
  return (
    <>
      <Problem padded error={error} what="The waits cannot be read" />
      {isPending && <Skeleton />}
      {data !== undefined && groups.length === 0 && (
        <div className="empty">
          <h2>Nothing waits for an event</h2>
          <p>
            Executions that wait with <code className="mono">andWaitFor</code>, or with an event in{" "}
            <code className="mono">suspend</code>, are listed here by event and key.
          </p>
        </div>
      )}
      {groups.length > 0 && (
        <table className="plain">
          <thead>
            <tr>
              <th>Event</th>
              <th>Key</th>
              <th className="right">Waiting</th>
              <th className="right">Oldest</th>
              <th>Executions</th>
              <th>Workflows</th>
            </tr>
          </thead>
          <tbody>
            {groups.map(({ name: event, key, executionIds, workflowIds, since }) => (
              <tr key={JSON.stringify([event, key])}>
                <td>
                  <span className="cut">{event}</span>
                </td>
                <td className="mono">
                  <span className="cut" title={key ?? undefined}>
                    {key ?? <span className="faint">any</span>}
                  </span>
                </td>
                <td className="right num">{count(executionIds.length)}</td>
                <td className="right faint">
                  <Ago time={since} suffix=" ago" />
                </td>
                <td>
                  <Executions ids={executionIds} total={executionIds.length} />
                </td>
                <td>
                  <span className="cut">{workflowIds.join(", ")}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {data?.more && <p className="padded muted">Only the oldest waits are counted.</p>}
    </>
  );
}
