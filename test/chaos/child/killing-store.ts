// A store that hands every call on to another one, and lets the killer end the process around the writes.
import type { Store } from "@andante/core";
import { wrapStore } from "../../../packages/core/test/support/wrapped-store.ts";
import type { Killer } from "./killer.ts";

export function killingStore(store: Store, killer: Killer): Store {
  return wrapStore(store, {
    open: () => store.open(),
    close: () => store.close(),
    create: (execution) => killer.write(execution.executionId, () => store.create(execution)),
    commit: (commit) =>
      killer.write(
        commit.executionId,
        () => store.commit(commit),
        () => ({ kind: "ok", sequence: 1_000, idle: false }),
      ),
    beginTurn: (begin) => killer.write(begin.turn.executionId, () => store.beginTurn(begin)),
    endTurn: (end) => killer.write(end.commit.executionId, () => store.endTurn(end)),
    pause: (pause) => killer.write(pause.executionId, () => store.pause(pause)),
    resume: (resume) => killer.write(resume.executionId, () => store.resume(resume)),
    cancel: (cancel) => killer.write(cancel.executionId, () => store.cancel(cancel)),
    claimAbandoned: (query) => killer.claim(() => store.claimAbandoned(query)),
    wake: (wake) => killer.write(wake.executionId, () => store.wake(wake)),
    endHandled: (ended) => killer.write(ended.executionId, () => store.endHandled(ended)),
    budgets: {
      ...store.budgets,
      hold: (hold) => killer.write(hold.hold, () => store.budgets.hold(hold)),
    },
    conversations: {
      ...store.conversations,
      post: (post) => killer.write(post.conversationId, () => store.conversations.post(post)),
    },
  });
}
