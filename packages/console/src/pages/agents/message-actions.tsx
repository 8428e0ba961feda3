// Actions on a message of a chat: copy it, reply again, edit it in a copy of the conversation, or continue from it in a copy.
import { useNavigate } from "@tanstack/react-router";
import { GitBranch, Pencil, RefreshCw } from "lucide-react";
import { type ReactNode, useState } from "react";
import { andante } from "../../api/andante.ts";
import { newId } from "../../api/new-id.ts";
import { CopyButton } from "../../components/copy.tsx";
import { Problem } from "../../components/problem.tsx";

export function MessageActions({
  agentId,
  conversationId,
  messageId,
  text,
  onRegenerate,
  onEdit,
}: {
  readonly agentId: string;
  readonly conversationId: string;
  readonly messageId: string;
  readonly text: string;
  /** Undefined where another reply cannot be made. */
  readonly onRegenerate?: (() => void) | undefined;
  /** Undefined for replies. */
  readonly onEdit?: (() => void) | undefined;
}) {
  const navigate = useNavigate();
  const [error, setError] = useState<unknown>();
  const fork = async () => {
    const copy = await andante.conversation(conversationId).fork({ upTo: messageId });
    await navigate({
      to: "/agents/$agentId",
      params: { agentId },
      search: { chat: copy.conversationId },
    });
  };
  return (
    <div className="message-acts">
      <CopyButton quiet text={text} label="Copy the message" />
      {onRegenerate && (
        <Act label="Reply again" onClick={onRegenerate}>
          <RefreshCw />
        </Act>
      )}
      {onEdit && (
        <Act label="Edit in a copy" onClick={onEdit}>
          <Pencil />
        </Act>
      )}
      <Act label="Continue from here in a copy" onClick={() => void fork().catch(setError)}>
        <GitBranch />
      </Act>
      <Problem error={error} what="The conversation is not copied" />
    </div>
  );
}

function Act({
  label,
  onClick,
  children,
}: {
  readonly label: string;
  readonly onClick: () => void;
  readonly children: ReactNode;
}) {
  return (
    <button type="button" className="btn plain icon" title={label} aria-label={label} onClick={onClick}>
      {children}
    </button>
  );
}

/** The text of a message in a field. It is sent in a copy of the conversation that ends before it. */
export function EditMessage({
  agentId,
  conversationId,
  before,
  text: atFirst,
  onClose,
}: {
  readonly agentId: string;
  readonly conversationId: string;
  /** The id of the message before it; undefined for the first one. */
  readonly before: string | undefined;
  readonly text: string;
  readonly onClose: () => void;
}) {
  const navigate = useNavigate();
  const [text, setText] = useState(atFirst);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const send = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const fork = { conversationId: newId(), upTo: before };
      if (before !== undefined) await andante.conversation(conversationId).fork(fork);
      const reply = andante.agent(agentId).chat(text.trim(), { conversationId: fork.conversationId });
      // The reply continues without this reader: the page of the copy reads it from its beginning.
      await reply.next();
      void reply.return();
      await navigate({ to: "/agents/$agentId", params: { agentId }, search: { chat: fork.conversationId } });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <div className="edit-message">
      <textarea
        className="field"
        dir="auto"
        aria-label="Edited message"
        // biome-ignore lint/a11y/noAutofocus: it replaces the message whose button was just pressed
        autoFocus
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Problem error={error} what="The edited message is not sent" />
      <div className="row">
        <button
          type="button"
          className="btn primary"
          disabled={busy || text.trim() === ""}
          onClick={() => void send()}
        >
          Send in a copy
        </button>
        <button type="button" className="btn" onClick={onClose}>
          Go back
        </button>
      </div>
    </div>
  );
}
