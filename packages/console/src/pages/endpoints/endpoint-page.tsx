// One endpoint: its settings, its commands, and its deliveries.
import type { Endpoint } from "@andante/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { andante } from "../../api/andante.ts";
import { endpointQuery } from "../../api/queries.ts";
import { Confirm } from "../../components/dialog.tsx";
import { Problem } from "../../components/problem.tsx";
import { plural } from "../../format/numbers.ts";
import { Page, Skeleton } from "../../layout/page.tsx";
import { DeliveryList } from "./delivery-list.tsx";
import { EndpointDialog, SecretDialog } from "./endpoint-dialog.tsx";
import { EndpointState, eventsOf, workflowsOf } from "./endpoint-facts.tsx";
import "../execution/execution.css";
import "../executions/executions.css";
import "./endpoints.css";

export function EndpointPage() {
  const { endpointId = "" } = useParams({ strict: false });
  const { data: endpoint, error, isPending } = useQuery(endpointQuery(endpointId));
  return (
    <Page title={endpointId} crumbs={[{ name: "Endpoints", to: "/endpoints" }]}>
      <Problem padded error={error} what="The endpoint cannot be read" />
      {isPending && <Skeleton />}
      {endpoint && <Whole endpoint={endpoint} />}
    </Page>
  );
}

function Whole({ endpoint }: { readonly endpoint: Endpoint }) {
  const { endpointId, url, content, origin, secrets } = endpoint;
  const facts = [
    ["Events", eventsOf(endpoint)],
    ["Workflows", workflowsOf(endpoint)],
    ["Content", content === "full" ? "full: with results, errors and data" : "thin: ids and times alone"],
    ["Declared", origin === "code" ? "in code: it is changed there" : "at run time"],
    ["Signed with", plural(secrets, "secret")],
  ] as const;
  return (
    <>
      <div className="heading">
        <div className="title">
          <h2 className="cut mono">{url}</h2>
          <EndpointState endpoint={endpoint} />
        </div>
        <div className="acts">
          <Actions endpoint={endpoint} />
        </div>
      </div>
      <div className="content endpoints">
        <dl className="endpoint-facts">
          {facts.map(([name, value]) => (
            <div key={name} style={{ display: "contents" }}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <DeliveryList endpointId={endpointId} />
      </div>
    </>
  );
}

function Actions({ endpoint }: { readonly endpoint: Endpoint }) {
  const { endpointId, origin, state } = endpoint;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<"change" | "remove" | "rotate">();
  const [secret, setSecret] = useState<string>();
  const close = () => setAsking(undefined);
  const renewed = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["endpoints"] }),
      client.invalidateQueries({ queryKey: ["deliveries"] }),
    ]);
  const test = useMutation({
    mutationFn: () => andante.endpoints.test(endpointId),
    onSuccess: ({ deliveryId }) => navigate({ to: "/deliveries", search: { item: deliveryId } }),
  });
  const enable = useMutation({ mutationFn: () => andante.endpoints.enable(endpointId), onSuccess: renewed });
  return (
    <>
      <Problem error={test.error ?? enable.error} what="That did not work" />
      {state === "disabled" && (
        <button
          type="button"
          className="btn primary"
          disabled={enable.isPending}
          onClick={() => enable.mutate()}
        >
          Enable
        </button>
      )}
      <button type="button" className="btn" disabled={test.isPending} onClick={() => test.mutate()}>
        Send a test
      </button>
      {origin === "api" && (
        <>
          <button type="button" className="btn" onClick={() => setAsking("change")}>
            Change…
          </button>
          <button type="button" className="btn" onClick={() => setAsking("rotate")}>
            New secret…
          </button>
          <button type="button" className="btn danger" onClick={() => setAsking("remove")}>
            Remove…
          </button>
        </>
      )}
      {asking === "change" && <EndpointDialog endpoint={endpoint} onClose={close} />}
      {asking === "rotate" && (
        <Confirm
          title="Make a new secret?"
          act="Make it"
          onClose={close}
          onConfirm={async () => {
            setSecret((await andante.endpoints.rotate(endpointId)).secret);
            await renewed();
          }}
        >
          The one before signs too for a day, so that the receiver can change over.
        </Confirm>
      )}
      {asking === "remove" && (
        <Confirm
          title="Remove this endpoint?"
          act="Remove it"
          danger
          onClose={close}
          onConfirm={async () => {
            await andante.endpoints.remove(endpointId);
            await navigate({ to: "/endpoints", search: {} });
            await renewed();
          }}
        >
          Its deliveries that were not sent fail.
        </Confirm>
      )}
      {secret !== undefined && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}
