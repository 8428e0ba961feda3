// The name of a definition of a workflow: the beginning of its fingerprint.
import { Link } from "@tanstack/react-router";

export function DefinitionName({ definition }: { readonly definition: string }) {
  return (
    <span className="mono" title={definition}>
      {definition.slice(0, 8)}
    </span>
  );
}

/** Its name, as a link to the definitions of the workflow. */
export function DefinitionLink({
  workflowId,
  definition,
}: {
  readonly workflowId: string;
  readonly definition: string;
}) {
  return (
    <Link
      className="quiet"
      to="/workflows/$workflowId"
      params={{ workflowId }}
      search={{ tab: "definitions" }}
    >
      <DefinitionName definition={definition} />
    </Link>
  );
}
