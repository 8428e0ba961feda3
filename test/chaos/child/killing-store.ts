// A store that hands every call on to another one, and lets the killer end the process around the writes.
import type { Store } from "@andante/core";
import type { Killer } from "./killer.ts";

export function killingStore(store: Store, killer: Killer): Store {
  const nothing = () => undefined;
  return {
    location: store.location,
    open: () => store.open(),
    create: (execution) => killer.write(() => store.create(execution), nothing),
    commit: (commit) =>
      killer.write(
        () => store.commit(commit),
        () => ({ kind: "ok", sequence: 1_000, rested: false }),
      ),
    pause: (pause) => killer.write(() => store.pause(pause), nothing),
    resume: (resume) => killer.write(() => store.resume(resume), nothing),
    cancel: (cancel) => killer.write(() => store.cancel(cancel), nothing),
    claimAbandoned: (query) => killer.claim(() => store.claimAbandoned(query)),
    heartbeat: (heartbeat) => store.heartbeat(heartbeat),
    release: (release) => store.release(release),
    state: (executionId) => store.state(executionId),
    events: (query) => store.events(query),
    list: (query) => store.list(query),
    close: () => store.close(),
  };
}
