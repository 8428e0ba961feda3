// Journal and store agree on the open suspensions, and an execution rests only at an open one.
import { isDeepStrictEqual } from "node:util";
import type { StoredEvent } from "@andante/core/store";
import type { Check } from "./evidence.ts";

export const checkSuspensions: Check = ({ after }) => {
  if (after === undefined) return [];
  const problems: string[] = [];
  /** Open suspensions: their paths by id. */
  const open = new Map<string, string | null>();
  for (const event of after.events) {
    const id = suspensionIdOf(event);
    const isRest = event.type === "workflow-suspended" && event.path !== null;
    if (isRest && !open.has(id))
      problems.push(`event ${event.sequence} rests at ${event.path}, which is not open`);
    apply(event, id, open);
  }
  const rows = after.state.suspensions.map(({ suspensionId, path }): [string, string | null] => [
    suspensionId,
    path,
  ]);
  if (!isDeepStrictEqual(new Map(rows), open))
    problems.push(`open by the journal: ${text(open)}; by the store: ${text(rows)}`);
  return problems;
};

function apply({ type, path }: StoredEvent, id: string, open: Map<string, string | null>): void {
  switch (type) {
    case "step-suspended":
      open.set(id, path);
      return;
    case "workflow-suspended":
      // A pause; the rest at a step's suspension opens nothing.
      if (path === null) open.set(id, null);
      return;
    case "workflow-resumed":
      open.delete(id);
      return;
    case "execution-rewound":
    case "workflow-complete":
    case "workflow-error":
    case "workflow-cancelled":
      open.clear();
      return;
    case "step-complete":
    case "step-error":
    case "step-skipped":
    case "step-bailed":
      for (const [each, below] of open) {
        if (below?.startsWith(`${path}/`) === true || below?.startsWith(`${path}[`) === true)
          open.delete(each);
      }
  }
}

function suspensionIdOf({ detail }: StoredEvent): string {
  return String(Object(detail === null ? undefined : JSON.parse(detail)).suspensionId);
}

function text(entries: Iterable<readonly [string, string | null]>): string {
  return JSON.stringify([...entries]);
}
