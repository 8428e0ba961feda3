// The desk where people approve: open requests, and the state of the execution that was decided last.
import type { Client, InboxItem } from "@andante/client";
import { useExecution, useInbox } from "@andante/client/react";
import { useState } from "react";

export function Desk({ andante }: { readonly andante: Client }) {
  const { items, isRead, error } = useInbox(andante, { workflowId: "approval" });
  const [decided, setDecided] = useState<string>();
  const { state, events } = useExecution(andante, decided);
  const approve = async ({ executionId, suspension: { suspensionId } }: InboxItem) => {
    setDecided(executionId);
    await andante.execution(executionId).startResume({ approved: true }, { suspensionId });
  };
  return (
    <main>
      <p id="read">{String(isRead)}</p>
      {error !== undefined && <p role="alert">{String(error)}</p>}
      <ul>
        {items.map((item) => (
          <li key={item.suspension.suspensionId}>
            <span>{item.executionId}</span>
            <button type="button" onClick={() => approve(item)}>
              Approve
            </button>
          </li>
        ))}
      </ul>
      <p id="state">{state?.status}</p>
      <p id="events">{events.map(({ type }) => type).join(" ")}</p>
    </main>
  );
}
