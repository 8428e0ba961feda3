// The oldest inbox items, each with its question and a link to answer it.
import type { Inbox, InboxItem } from "@andante/client";
import { Link } from "@tanstack/react-router";
import { inlineWords } from "../../components/inline-json.ts";
import { Ago, useNow } from "../../components/time.tsx";
import { deadlineWords } from "../../format/due.ts";
import { decisionField, decisionWords } from "../inbox/decision-field.ts";
import { placeOf, titleOf } from "../inbox/item-title.ts";
import { NotYet } from "./not-yet.tsx";

export function WaitingCard({
  inbox,
  error,
}: {
  readonly inbox: Inbox | undefined;
  readonly error: unknown;
}) {
  return (
    <section className="card wide">
      <h2>
        Waiting for you <small>oldest first</small>
        <Link className="right quiet" to="/inbox">
          Open inbox →
        </Link>
      </h2>
      {inbox === undefined && <NotYet error={error} what="What waits cannot be read" />}
      {inbox?.items.length === 0 && (
        <div className="empty">
          <p>Nothing waits. When a step asks a person, it appears here until somebody answers.</p>
        </div>
      )}
      {inbox?.items.slice(0, 3).map((item) => (
        <WaitRow key={item.suspension.suspensionId} item={item} />
      ))}
    </section>
  );
}

function WaitRow({ item }: { readonly item: InboxItem }) {
  const { suspension, userId } = item;
  const detail = inlineWords(suspension.data, 120);
  return (
    <div className="wait-row">
      <div className="grow">
        <div className="cut" style={{ fontWeight: 580 }}>
          {titleOf(item)}
        </div>
        {detail !== "" && <div className="quote cut">{detail}</div>}
        <div className="where cut">
          {placeOf(item)} · asked <Ago time={suspension.suspendedAt} suffix=" ago" />
          {userId !== null && ` by ${userId}`}
          <Deadline suspension={suspension} />
        </div>
      </div>
      <Ways item={item} />
    </div>
  );
}

/** To the form: with Yes or No chosen where that is the question. */
function Ways({ item }: { readonly item: InboxItem }) {
  const { suspensionId } = item.suspension;
  const field = decisionField(item.suspension);
  const words = field === undefined ? ["Answer…"] : decisionWords(item, field);
  return words.map((word, index) => (
    <Link
      key={word}
      to="/inbox"
      search={{ item: suspensionId }}
      state={field === undefined ? {} : { decision: index === 1 }}
      className={index === words.length - 1 ? "btn primary" : "btn"}
    >
      {word}
    </Link>
  ));
}

function Deadline({ suspension }: Pick<InboxItem, "suspension">) {
  const now = useNow();
  if (suspension.deadline === undefined) return null;
  return (
    <>
      {" · "}
      <span className="late">{deadlineWords(suspension, now)}</span>
    </>
  );
}
