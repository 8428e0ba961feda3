// Every operation of the API, to read and to try; choosing a workflow fills in a valid call.
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { exampleQuery, workflowsQuery } from "../../api/queries.ts";
import { CopyButton } from "../../components/copy.tsx";
import { Problem } from "../../components/problem.tsx";
import { useSlash } from "../../components/use-keys.ts";
import { plural } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { useSearchChange } from "../../layout/search.ts";
import { OperationView } from "./operation-view.tsx";
import { type Operation, readDescription } from "./operations.ts";
import "./api.css";

/** The operation that runs a workflow; its examples have the ids of workflows. */
const runs = "executeWorkflow";

export function ApiPage() {
  const { data, error, isPending } = useQuery({
    queryKey: ["description"],
    queryFn: ({ signal }) => readDescription(signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { item, text = "", workflowId } = useSearch({ strict: false });
  const change = useSearchChange();
  const field = useRef<HTMLInputElement>(null);
  useSlash(field);
  const wanted = text.toLowerCase();
  const shown = data?.operations.filter(({ method, path, summary, tag }) =>
    `${method} ${path} ${summary} ${tag}`.toLowerCase().includes(wanted),
  );
  const tags = [...new Set(shown?.map(({ tag }) => tag))];
  return (
    <Page title="API" note={data && plural(data.operations.length, "operation")}>
      <div className="content padded api">
        <Examples
          chosen={workflowId}
          onChoose={(id) => change({ workflowId: id, item: runs, text: undefined })}
        />
        <Problem error={error} what="The description cannot be shown" />
        {isPending && <Skeleton />}
        {data && (
          <input
            ref={field}
            className="field"
            aria-label="Operations that contain"
            placeholder="contains …  /"
            value={text}
            onChange={({ target }) => change({ text: target.value })}
          />
        )}
        {shown?.length === 0 && <p className="muted">No operation contains this.</p>}
        {data &&
          tags.map((tag) => (
            <section key={tag} aria-label={tag}>
              <h2>{tag}</h2>
              {shown
                ?.filter((operation) => operation.tag === tag)
                .map((operation) => (
                  <Row
                    key={operation.id}
                    operation={operation}
                    schemas={data.schemas}
                    example={operation.id === runs ? workflowId : undefined}
                    isOpen={operation.id === item}
                    onToggle={(isOpen) => change({ item: isOpen ? operation.id : undefined })}
                  />
                ))}
            </section>
          ))}
      </div>
    </Page>
  );
}

function Row({
  operation,
  schemas,
  example,
  isOpen,
  onToggle,
}: {
  readonly operation: Operation;
  readonly schemas: ReadonlyMap<string, unknown>;
  readonly example: string | undefined;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another example of an open operation is scrolled to, too
  useEffect(() => {
    if (isOpen) place.current?.scrollIntoView({ block: "nearest" });
  }, [isOpen, example]);
  const { id, method, path, summary } = operation;
  return (
    <div ref={place} className="card operation" id={id}>
      <button type="button" aria-expanded={isOpen} onClick={() => onToggle(!isOpen)}>
        <span className="method mono">{method}</span>
        <span className="path mono">{path}</span>
        <span className="muted cut">{summary}</span>
      </button>
      {isOpen && <OperationView key={example} operation={operation} schemas={schemas} example={example} />}
    </div>
  );
}

/** A valid call of the chosen workflow: as a shell command, and filled in below. */
function Examples({
  chosen,
  onChoose,
}: {
  readonly chosen: string | undefined;
  readonly onChoose: (workflowId: string) => void;
}) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const id = chosen ?? workflows[0]?.id;
  const { data: example } = useQuery({ ...exampleQuery(id ?? ""), enabled: id !== undefined });
  if (id === undefined) return null;
  return (
    <section className="card examples">
      <h2>
        A call that works
        <select
          className="field right"
          aria-label="Workflow"
          value={id}
          onChange={(event) => onChoose(event.target.value)}
        >
          {workflows.map((workflow) => (
            <option key={workflow.id} value={workflow.id}>
              {workflow.name}
            </option>
          ))}
        </select>
        <button type="button" className="btn" onClick={() => onChoose(id)}>
          Try it here
        </button>
      </h2>
      {example?.calls.map((command) => (
        <div key={command} className="row call-row">
          <pre className="mono grow">{command}</pre>
          <CopyButton quiet text={command} label="Copy the call" />
        </div>
      ))}
    </section>
  );
}
