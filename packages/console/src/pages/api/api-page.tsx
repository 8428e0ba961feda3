// The interactive API page in the console's frame and theme; choosing a workflow fills in a valid call.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { exampleQuery, workflowsQuery } from "../../api/queries.ts";
import { CopyButton } from "../../components/copy.tsx";
import { Problem } from "../../components/problem.tsx";
import { Page } from "../../layout/page.tsx";
import { drawSwagger, fillIn } from "./swagger.ts";
import "./api.css";

type System = Awaited<ReturnType<typeof drawSwagger>>;

export function ApiPage() {
  const place = useRef<HTMLDivElement>(null);
  const [system, setSystem] = useState<System>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (place.current === null) return;
    let over = false;
    // A new element for each rendering: a late one must not overwrite another.
    const drawing = document.createElement("div");
    place.current.append(drawing);
    const stopNaming = nameControls(drawing);
    drawSwagger(drawing).then(
      (drawn) => over || setSystem(drawn),
      (problem: unknown) => over || setError(problem),
    );
    return () => {
      over = true;
      stopNaming();
      drawing.remove();
    };
  }, []);
  return (
    <Page title="API" note="try any endpoint">
      <div className="content padded">
        <Problem error={error} what="The description cannot be shown" />
        <Examples system={system} />
        <div ref={place} className="swagger" />
      </div>
    </Page>
  );
}

/** A valid call of the chosen workflow: as a shell command, and filled in below. */
function Examples({ system }: { readonly system: System | undefined }) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const [chosen, setChosen] = useState<string>();
  const id = chosen ?? workflows[0]?.id;
  const { data: example } = useQuery({ ...exampleQuery(id ?? ""), enabled: id !== undefined });
  const tryIt = () => {
    if (system === undefined || id === undefined) return;
    void fillIn(system, id).then((call) => call?.scrollIntoView({ block: "start" }));
  };
  // Only after the user's choice, not for the initial workflow.
  // biome-ignore lint/correctness/useExhaustiveDependencies: not for each rendering
  useEffect(() => {
    if (chosen !== undefined) tryIt();
  }, [chosen, system]);
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
        <button type="button" className="btn" disabled={system === undefined} onClick={tryIt}>
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

const missing = [
  ["select.examples-select-element", "aria-label", "Example"],
  ["textarea.body-param__text", "aria-label", "Request body"],
  ["pre.microlight", "tabindex", "0"],
] as const;

/** Names the controls of Swagger UI that have no accessible name, later ones too, until the returned function is called. */
function nameControls(place: Element): () => void {
  const name = () => {
    for (const [selector, attribute, value] of missing)
      for (const control of place.querySelectorAll(`${selector}:not([${attribute}])`))
        control.setAttribute(attribute, value);
  };
  const observer = new MutationObserver(name);
  observer.observe(place, { childList: true, subtree: true });
  return () => observer.disconnect();
}
