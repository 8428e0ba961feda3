// A link to the page of an execution.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { shortId } from "../format/numbers.ts";

/** Shows the short id, unless there are children. */
export function ExecutionLink({
  id,
  className,
  children = shortId(id),
}: {
  readonly id: string;
  readonly className?: string;
  readonly children?: ReactNode;
}) {
  return (
    <Link className={className} to="/executions/$executionId" params={{ executionId: id }}>
      {children}
    </Link>
  );
}
