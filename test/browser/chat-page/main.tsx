// Opens the chat that the address names, with its earlier messages.
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.tsx";
import { loadMessages } from "./server.ts";

const address = new URLSearchParams(location.search);
const agent = address.get("agent") ?? "";
const conversation = address.get("conversation") ?? "";
const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root");

const messages = await loadMessages(conversation);
createRoot(root).render(<Chat agent={agent} conversation={conversation} messages={messages} />);
