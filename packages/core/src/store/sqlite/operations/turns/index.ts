// The operations on turns by name, bound to one open database.
import type { DatabaseSync } from "node:sqlite";
import type { Commit, CommitResult } from "../../../store.ts";
import type { PerformDecision } from "../../perform-decision.ts";
import { keepReply } from "../conversations/keep-reply.ts";
import { postMessage } from "../conversations/post-message.ts";
import { replaceLast } from "../conversations/replace-last.ts";
import type { Bind } from "../late.ts";
import { beginTurn } from "./begin-turn.ts";
import { endTurn } from "./end-turn.ts";

/** `committing` and `perform` are the operations of every execution. */
export function turnWrites(
  database: DatabaseSync,
  bind: Bind,
  committing: (commit: Commit) => CommitResult,
  perform: PerformDecision,
) {
  return {
    beginTurn: bind(database, () =>
      beginTurn(database, { post: postMessage(database), replaceLast: replaceLast(database), perform }),
    ),
    endTurn: bind(database, () => endTurn(database, { commit: committing, keepReply: keepReply(database) })),
  };
}
