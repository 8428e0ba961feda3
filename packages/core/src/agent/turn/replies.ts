// Everything that makes a reply, behind one door: it needs the AI SDK, and is loaded where there are agents.
export { shapeOf } from "../schema/object-shape.ts";
export { beginQueued } from "./begin-queued.ts";
export { continueTurn } from "./continue-turn.ts";
export { decideApproval } from "./decide-approval.ts";
export { objectReply, streamObject } from "./object-reply.ts";
export { postEnd } from "./post-end.ts";
export { postPrompt } from "./post-prompt.ts";
export { runChat } from "./run-chat.ts";
export { readReply, startReply } from "./start-reply.ts";
export { startTurn } from "./start-turn.ts";
export { streamReply } from "./stream-reply.ts";
export { textReply } from "./text-turn.ts";
