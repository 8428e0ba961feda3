// The processes that share the store: their executions, slots, processor time, memory and definitions.
import type { Nodes } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { nodesQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { Status } from "../../components/status.tsx";
import { Ago } from "../../components/time.tsx";
import { bytes, count, plural, shortId } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import "./nodes.css";

type Node = Nodes["nodes"][number];

export function NodesPage() {
  const { data, error, isPending } = useQuery(nodesQuery);
  const nodes = data?.nodes ?? [];
  const current = nodes.find(({ isSelf }) => isSelf)?.process?.definitions;
  return (
    <Page title="Nodes" note={data && plural(nodes.filter(({ isAlive }) => isAlive).length, "node")}>
      <div className="content nodes">
        <Problem padded error={error} what="The nodes cannot be read" />
        {isPending && <Skeleton />}
        {data !== undefined && data.unowned > 0 && (
          <p className="padded muted" role="status">
            {plural(data.unowned, "execution waits", "executions wait")} for a node with a free slot.
          </p>
        )}
        {data !== undefined && (
          <table className="plain">
            <thead>
              <tr>
                <th>Node</th>
                <th>Status</th>
                <th className="right">Last seen</th>
                <th className="right">Executions</th>
                <th style={{ minWidth: 120 }}>Slots</th>
                <th className="right">CPU</th>
                <th className="right">Memory</th>
                <th className="right">Started</th>
                <th>Definitions</th>
              </tr>
            </thead>
            <tbody>
              {nodes.map((node) => (
                <Row key={node.id} node={node} current={current} />
              ))}
            </tbody>
          </table>
        )}
        <p className="padded muted">
          Executions are those that a node has claimed and that have work to do, with the replies of chats;
          suspended and sleeping ones belong to no node. A node describes itself with each heartbeat.
        </p>
      </div>
    </Page>
  );
}

/** `current`: the definitions of the node that responds. */
function Row({ node, current }: { readonly node: Node; readonly current: string | undefined }) {
  const { id, isSelf, isAlive, executions, process } = node;
  return (
    <tr>
      <td>
        <b className="cut" title={id}>
          {process?.name ?? shortId(id)}
        </b>{" "}
        <small className="faint num">
          {process !== null && `pid ${process.pid}`}
          {isSelf && " · responds"}
        </small>
      </td>
      <td>
        <Status status={isAlive ? "running" : "error"} word={isAlive ? "alive" : "gone"} />
      </td>
      <td className="right faint">{process !== null && <Ago time={process.seenAt} suffix=" ago" />}</td>
      <td className="right num">{count(executions)}</td>
      <td className="num">
        {process !== null && (
          <span className="slots">
            <span className="load" aria-hidden="true">
              <i
                style={{ width: `${Math.min(100, (100 * process.running) / Math.max(1, process.limit))}%` }}
              />
            </span>
            {count(process.running)} of {count(process.limit)}
          </span>
        )}
      </td>
      <td className="right num">{process?.cpu != null && `${Math.round(process.cpu * 100)} %`}</td>
      <td className="right num">{process !== null && bytes(process.memory)}</td>
      <td className="right faint">{process !== null && <Ago time={process.startedAt} suffix=" ago" />}</td>
      <td className="mono faint">
        {process?.definitions}
        {process !== null && current !== undefined && process.definitions !== current && (
          <small className="differs"> other steps</small>
        )}
      </td>
    </tr>
  );
}
