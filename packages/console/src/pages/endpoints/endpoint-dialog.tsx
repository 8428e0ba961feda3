// Adds an endpoint, or changes one; a secret that was made now is shown once.
import type { Endpoint } from "@andante/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { andante } from "../../api/andante.ts";
import { workflowsQuery } from "../../api/queries.ts";
import { CopyButton } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { isObject } from "../../form/as-schema.ts";
import { LazyForm } from "../../form/lazy-form.tsx";

const types = [
  "execution.ended",
  "execution.suspended",
  "suspension.reminder",
  "suspension.escalated",
] as const;

export function EndpointDialog({
  endpoint,
  onClose,
}: {
  /** The one to change; none to add one. */
  readonly endpoint?: Endpoint;
  readonly onClose: () => void;
}) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: workflows } = useQuery(workflowsQuery);
  const [made, setMade] = useState<{ readonly endpointId: string; readonly secret: string }>();
  const done = async (endpointId: string) => {
    onClose();
    if (endpoint === undefined) await navigate({ to: "/endpoints/$endpointId", params: { endpointId } });
  };
  const save = async (given: unknown) => {
    const fields = isObject(given) ? given : {};
    const endpointId = endpoint?.endpointId ?? String(fields.id ?? "");
    const { secret } = await andante.endpoints.set(endpointId, {
      url: String(fields.url ?? ""),
      on: types.filter((type) => isIn(fields.on, type)),
      workflows: listIn(fields.workflows),
      content: fields.content === "full" ? "full" : "thin",
      ...(typeof fields.secret === "string" && { secret: fields.secret }),
    });
    await client.invalidateQueries({ queryKey: ["endpoints"] });
    if (secret === undefined) await done(endpointId);
    else setMade({ endpointId, secret });
  };
  if (made !== undefined)
    return <SecretDialog secret={made.secret} onClose={() => void done(made.endpointId)} />;
  return (
    <Dialog
      open
      wide
      title={endpoint === undefined ? "Add an endpoint" : `Change ${endpoint.endpointId}`}
      onClose={onClose}
    >
      {workflows !== undefined && (
        <LazyForm
          schema={schemaFor(
            workflows.map(({ id }) => id),
            endpoint,
          )}
          initial={
            endpoint === undefined
              ? { on: [...types], content: "thin" }
              : {
                  url: endpoint.url,
                  on: endpoint.on,
                  content: endpoint.content,
                  ...(endpoint.workflows !== null && { workflows: endpoint.workflows }),
                }
          }
          submit={endpoint === undefined ? "Add it" : "Save"}
          onSubmit={save}
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

/** A secret that is shown this once. */
export function SecretDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog open title="Its secret" onClose={onClose}>
      <p className="muted">The receiver verifies signatures with it. It is not shown again.</p>
      <div className="new-secret">
        <code className="mono">{secret}</code>
        <CopyButton text={secret} label="Copy" />
      </div>
      <div className="acts">
        <button type="button" className="btn primary" onClick={onClose}>
          I have kept it
        </button>
      </div>
    </Dialog>
  );
}

function schemaFor(workflowIds: readonly string[], endpoint: Endpoint | undefined) {
  // Workflows that only other processes register are kept.
  const known = [...new Set([...workflowIds, ...(endpoint?.workflows ?? [])])];
  const id = { type: "string", title: "Id", description: "Its name, such as crm" };
  return {
    type: "object",
    properties: {
      ...(endpoint === undefined && { id }),
      url: { type: "string", title: "Address", description: "Where events are posted; https" },
      on: {
        ...{ type: "array", title: "Events", uniqueItems: true },
        items: { type: "string", enum: types },
      },
      workflows: {
        ...{ type: "array", title: "Workflows", description: "None: those of all", uniqueItems: true },
        items: { type: "string", enum: known },
      },
      content: {
        ...{ type: "string", title: "Content", enum: ["thin", "full"] },
        description: "full: with results, errors and the data of suspensions",
      },
      secret: {
        ...{ type: "string", title: "Secret" },
        description: "whsec_ and base64. Empty: one is made, or the present one stays",
      },
    },
    required: endpoint === undefined ? ["id", "url"] : ["url"],
  };
}

function isIn(list: unknown, value: string): boolean {
  return Array.isArray(list) && list.includes(value);
}

/** The texts in a list; undefined for none. */
function listIn(list: unknown): readonly string[] | undefined {
  const texts = Array.isArray(list) ? list.filter((each) => typeof each === "string") : [];
  return texts.length === 0 ? undefined : texts;
}
