// A link to the chat in which a tool call waits.
import type { InboxItem } from "@andante/client";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

export function ChatLink({ item, children }: { readonly item: InboxItem; readonly children: ReactNode }) {
  const { agentId, conversationId } = item;
  if (agentId === null || conversationId === null) return null;
  return (
    <Link className="link" to="/agents/$agentId" params={{ agentId }} search={{ chat: conversationId }}>
      {children}
    </Link>
  );
}
