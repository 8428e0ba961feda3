// A link to the page of an execution.
import { Link } from "@tanstack/react-router";
import { type ReactNode, useSyncExternalStore } from "react";
import { shortId } from "../format/numbers.ts";

/** The longest id that is shown whole in a table of a wide window. */
const longestId = 28;

const narrow = matchMedia("(max-width: 1180px)");
const onNarrow = (changed: () => void) => {
  narrow.addEventListener("change", changed);
  return () => narrow.removeEventListener("change", changed);
};

/** An id in a table: one that was given, such as `order:evt_1`, says more than its beginning. */
export function NamedExecution({ id }: { readonly id: string }) {
  const isNarrow = useSyncExternalStore(onNarrow, () => narrow.matches);
  return (
    <ExecutionLink className="link mono" id={id}>
      <span title={id}>{isNarrow || id.length > longestId ? shortId(id) : id}</span>
    </ExecutionLink>
  );
}

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
