// Sends an event: a form made from the schema of its data.
import type { EventTypes } from "@andante/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { andante } from "../../api/andante.ts";
import { Dialog } from "../../components/dialog.tsx";
import { LazyForm } from "../../form/lazy-form.tsx";

export function SendDialog({
  types,
  chosen,
  onClose,
}: {
  readonly types: EventTypes["events"];
  readonly chosen: string | undefined;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState(chosen ?? types[0]?.name);
  const type = types.find((each) => each.name === name);
  const send = async (data: unknown) => {
    const { eventId } = await andante.send(name ?? "", data);
    onClose();
    await client.invalidateQueries({ queryKey: ["events"] });
    await navigate({ to: "/events/$eventId", params: { eventId }, search: {} });
  };
  return (
    <Dialog open wide title="Send an event" onClose={onClose}>
      <label className="field-label" style={{ color: "var(--ink)", display: "block" }}>
        Event
        <select className="field" value={name} onChange={({ target }) => setName(target.value)}>
          {types.map((each) => (
            <option key={each.name}>{each.name}</option>
          ))}
        </select>
      </label>
      {type !== undefined && (
        <LazyForm
          key={type.name}
          schema={type.data}
          initial={undefined}
          submit="Send it"
          onSubmit={send}
          beside={
            <button type="button" className="btn" onClick={onClose}>
              Go back
            </button>
          }
        />
      )}
    </Dialog>
  );
}
