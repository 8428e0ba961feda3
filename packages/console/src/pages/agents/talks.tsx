// The conversations of an agent, newest first: search by title, rename, remove; those that wait for an approval are marked.
import type { Conversation } from "@andante/client";
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Pencil, Trash2 } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { andante } from "../../api/andante.ts";
import { conversationsQuery, waitsQuery } from "../../api/queries.ts";
import { Confirm, Dialog } from "../../components/dialog.tsx";
import { Problem } from "../../components/problem.tsx";
import { scrollIntoSight } from "../../components/scroll-into-sight.ts";
import { Status } from "../../components/status.tsx";
import { Ago } from "../../components/time.tsx";
import { count } from "../../format/numbers.ts";

/** The last message is read for this many of the newest conversations: only it shows a pending approval. */
const looked = 20;

export function Talks({
  chosen,
  agentId,
  onNew,
}: {
  readonly chosen: string | undefined;
  readonly agentId: string;
  readonly onNew: () => void;
}) {
  const [title, setTitle] = useState("");
  const { data, error } = useQuery(conversationsQuery(agentId, title.trim()));
  const conversations = data?.conversations ?? [];
  const waits = useQueries({ queries: conversations.slice(0, looked).map(waitsQuery) });
  return (
    <nav className="talks" aria-label="Conversations">
      <button type="button" className="btn" onClick={onNew}>
        New conversation
      </button>
      {(title !== "" || conversations.length > 0) && (
        <input
          className="field"
          aria-label="Conversations with the title"
          placeholder="title contains …"
          value={title}
          onChange={(event) => setTitle(event.target.value)}
        />
      )}
      <Problem error={error} what="The conversations cannot be read" />
      {conversations.map((conversation, index) => (
        <Talk
          key={conversation.conversationId}
          conversation={conversation}
          isChosen={conversation.conversationId === chosen}
          waits={waits[index]?.data === true}
          onRemoved={onNew}
        />
      ))}
      {data && conversations.length === 0 && (
        <p className="faint">{title === "" ? "Conversations are kept here." : "No title contains this."}</p>
      )}
    </nav>
  );
}

function Talk({
  conversation: { conversationId, agentId, title, updatedAt, usage },
  isChosen,
  waits,
  onRemoved,
}: {
  readonly conversation: Conversation;
  readonly isChosen: boolean;
  readonly waits: boolean;
  /** Called when the open conversation is removed. */
  readonly onRemoved: () => void;
}) {
  const client = useQueryClient();
  const [asking, setAsking] = useState<"rename" | "remove">();
  const renew = () => client.invalidateQueries({ queryKey: ["conversations", agentId] });
  const close = () => setAsking(undefined);
  const name = title ?? conversationId;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isChosen) scrollIntoSight(box.current?.parentElement, box.current);
  }, [isChosen]);
  return (
    <div className={isChosen ? "talk on" : "talk"} ref={box}>
      <Link to="/agents/$agentId" params={{ agentId }} search={{ chat: conversationId }}>
        <b className="cut">{name}</b>
        <small>
          <Ago time={updatedAt} suffix=" ago" /> · {count(usage.totalTokens)} tokens
        </small>
        {waits && <Status status="waiting" word="needs approval" />}
      </Link>
      {isChosen && (
        <span className="talk-acts">
          <button type="button" className="btn plain icon" title="Rename" onClick={() => setAsking("rename")}>
            <Pencil aria-label="Rename the conversation" />
          </button>
          <button type="button" className="btn plain icon" title="Remove" onClick={() => setAsking("remove")}>
            <Trash2 aria-label="Remove the conversation" />
          </button>
        </span>
      )}
      {asking === "rename" && (
        <Rename
          title={title ?? ""}
          onClose={close}
          onRename={async (next) => {
            await andante.conversation(conversationId).rename(next);
            await renew();
          }}
        />
      )}
      {asking === "remove" && (
        <Confirm
          title={`Remove “${name}”?`}
          act="Remove the conversation"
          danger
          onClose={close}
          onConfirm={async () => {
            await andante.conversation(conversationId).remove();
            onRemoved();
            await renew();
          }}
        >
          Its messages are removed with it and cannot be read again. The effects of its tools stay.
        </Confirm>
      )}
    </div>
  );
}

function Rename({
  title,
  onClose,
  onRename,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly onRename: (title: string) => Promise<void>;
}) {
  const [text, setText] = useState(title);
  const [error, setError] = useState<unknown>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onRename(text.trim()).then(onClose, setError);
  };
  return (
    <Dialog open title="Rename the conversation" onClose={onClose}>
      <form onSubmit={submit}>
        <input
          className="field"
          aria-label="Title"
          value={text}
          maxLength={200}
          onChange={(event) => setText(event.target.value)}
        />
        <Problem error={error} what="That did not work" />
        <div className="acts">
          <button type="button" className="btn" onClick={onClose}>
            Go back
          </button>
          <button type="submit" className="btn primary" disabled={text.trim() === ""}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}
