// A store that hands every call on to another one, and lets the killer end the process around the writes.
import type { Store } from "@andante/core";
import type { Killer } from "./killer.ts";

export function killingStore(store: Store, killer: Killer): Store {
  return {
    location: store.location,
    open: () => store.open(),
    create: (execution) => killer.write(execution.executionId, () => store.create(execution)),
    commit: (commit) =>
      killer.write(
        commit.executionId,
        () => store.commit(commit),
        () => ({ kind: "ok", sequence: 1_000, rested: false }),
      ),
    pause: (pause) => killer.write(pause.executionId, () => store.pause(pause)),
    resume: (resume) => killer.write(resume.executionId, () => store.resume(resume)),
    cancel: (cancel) => killer.write(cancel.executionId, () => store.cancel(cancel)),
    claimAbandoned: (query) => killer.claim(() => store.claimAbandoned(query)),
    heartbeat: (heartbeat) => store.heartbeat(heartbeat),
    release: (release) => store.release(release),
    state: (executionId) => store.state(executionId),
    events: (query) => store.events(query),
    list: (query) => store.list(query),
    conversations: store.conversations,
    close: () => store.close(),
  };
}
