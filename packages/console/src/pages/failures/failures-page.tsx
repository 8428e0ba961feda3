// Failed executions in groups of the same error: which errors are frequent, since when, and where.
import type { FailureGroups } from "@andante/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { failuresQuery } from "../../api/queries.ts";
import { DefinitionLink } from "../../components/definition-name.tsx";
import { ExecutionLink } from "../../components/execution-link.tsx";
import { Problem } from "../../components/problem.tsx";
import { Ago } from "../../components/time.tsx";
import { count } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { spanOf, spans } from "../executions/spans.ts";
import { FailureGroup, MoreFailures } from "./failure-group.tsx";
import "../executions/executions.css";

const usual = "24h";

export function FailuresPage() {
  const { since = usual, group } = useSearch({ strict: false });
  const from = spanOf(since)?.from;
  const crumb = { name: "Failures", to: "/failures", search: { since } } as const;
  return (
    <Page
      title={group === undefined ? "Failures" : "Executions of a group"}
      crumbs={group === undefined ? [] : [crumb]}
    >
      <div className="filters">
        {spans.map(([key, label]) => (
          <Link
            key={key}
            to="/failures"
            search={{ group, since: key === usual ? undefined : key }}
            className={since === key ? "chip on" : "chip"}
          >
            {label}
          </Link>
        ))}
      </div>
      <div className="content">
        {group === undefined ? (
          <Groups from={from} since={since} />
        ) : (
          <FailureGroup id={group} from={from} since={since} />
        )}
      </div>
    </Page>
  );
}

function Groups({ from, since }: { readonly from: string | undefined; readonly since: string }) {
  const { data, error, isPending } = useQuery(failuresQuery(from));
  return (
    <>
      <Problem error={error} what="The failures cannot be read" />
      {isPending && <Skeleton />}
      {data?.groups.length === 0 && (
        <div className="empty">
          <h2>Nothing failed</h2>
          <p>
            Executions that end with an error are listed here in groups: the same workflow, step and error,
            with messages that differ only in ids and numbers.
          </p>
        </div>
      )}
      {data !== undefined && data.groups.length > 0 && (
        <table className="plain failures">
          <thead>
            <tr>
              <th className="right">Executions</th>
              <th style={{ width: "40%" }}>Error</th>
              <th>Workflow</th>
              <th>Step</th>
              <th>Definition</th>
              <th className="right">First</th>
              <th className="right">Last</th>
              <th>Newest</th>
            </tr>
          </thead>
          <tbody>
            {data.groups.map((group) => (
              <GroupRow key={group.id} group={group} since={since} />
            ))}
          </tbody>
        </table>
      )}
      {data?.complete === false && <MoreFailures />}
    </>
  );
}

function GroupRow({
  group: { id, workflowId, stepPath, name, message, definitions, firstAt, lastAt, executionId, ...group },
  since,
}: {
  readonly group: FailureGroups["groups"][number];
  readonly since: string;
}) {
  return (
    <tr>
      <td className="right num">
        <Link className="link" to="/failures" search={{ group: id, since }}>
          {count(group.count)}
          <span className="hidden-label"> failed executions of {workflowId}</span>
        </Link>
      </td>
      <td>
        <div className="failure-text" dir="auto" title={message}>
          <b style={{ fontWeight: 560 }}>{name}</b> {message}
        </div>
      </td>
      <td className="named">
        <Link to="/workflows/$workflowId" params={{ workflowId }}>
          {workflowId}
        </Link>
      </td>
      <td className="named mono faint">{stepPath}</td>
      <td>
        {definitions.map((definition) => (
          <div key={definition}>
            <DefinitionLink workflowId={workflowId} definition={definition} />
          </div>
        ))}
      </td>
      <td className="right faint">
        <Ago time={firstAt} suffix=" ago" />
      </td>
      <td className="right faint">
        <Ago time={lastAt} suffix=" ago" />
      </td>
      <td>
        <ExecutionLink className="quiet mono" id={executionId} />
      </td>
    </tr>
  );
}
