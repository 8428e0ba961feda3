// The interactive page of the API in the console's frame, dark too; choosing a workflow gives a call that succeeds.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { address, headers, serverRoot } from "../../api/call.ts";
import { exampleQuery, workflowsQuery } from "../../api/queries.ts";
import { currentToken } from "../../api/token.ts";
import { Page } from "../../frame/page.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { Problem } from "../../parts/problem.tsx";
import "./api.css";

interface SwaggerRequest {
  headers: Record<string, string>;
}

type SwaggerBundle = (options: {
  url: string;
  domNode: HTMLElement;
  requestInterceptor(request: SwaggerRequest): SwaggerRequest;
}) => unknown;

declare global {
  interface Window {
    SwaggerUIBundle?: SwaggerBundle;
  }
}

/** The server has the page's assets beside the console. */
function load(): Promise<SwaggerBundle> {
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = `${serverRoot}ui/swagger-ui.css`;
  document.head.append(style);
  return new Promise((resolve, reject) => {
    if (window.SwaggerUIBundle) return resolve(window.SwaggerUIBundle);
    const script = document.createElement("script");
    script.src = `${serverRoot}ui/swagger-ui-bundle.js`;
    script.onload = () =>
      window.SwaggerUIBundle
        ? resolve(window.SwaggerUIBundle)
        : reject(new Error("the page's script is empty"));
    script.onerror = () => reject(new Error("the page's script cannot be loaded"));
    document.head.append(script);
  });
}

export function ApiPage() {
  const place = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let over = false;
    load().then(
      (bundle) => {
        if (over || place.current === null) return;
        bundle({
          url: address("/doc"),
          domNode: place.current,
          requestInterceptor: (request) => {
            const own = currentToken() === null ? {} : headers();
            request.headers = { ...own, ...request.headers };
            return request;
          },
        });
      },
      (problem: unknown) => setError(problem),
    );
    return () => {
      over = true;
    };
  }, []);
  return (
    <Page title="API" note="every endpoint, to be tried here">
      <div className="content padded">
        {error !== undefined && <Problem error={error} what="The description cannot be shown" />}
        <Examples />
        <div ref={place} className="swagger" />
      </div>
    </Page>
  );
}

/** A call with a body that succeeds, for the workflow that is chosen. */
function Examples() {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const [chosen, setChosen] = useState<string>();
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
          onChange={(event) => setChosen(event.target.value)}
        >
          {workflows.map((workflow) => (
            <option key={workflow.id} value={workflow.id}>
              {workflow.name}
            </option>
          ))}
        </select>
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
