// Claims of one execution: taken when a timer is due, released, parked, continued with another definition.
import type { Claim, Release, Store } from "../store.ts";
import type { Decision } from "./decision.ts";
import { giveClaim, releaseClaim } from "./record.ts";

/** Claims an idle execution one of whose timers is due. */
export const wake: Decision<
  { readonly executionId: string; readonly now: number; readonly claim: Claim },
  boolean
> = {
  request({ executionId }, record, requests) {
    if (record !== undefined) requests.dueAt(executionId);
  },

  decide({ executionId, now, claim }, record, facts, changes) {
    if (record === undefined) return false;
    // Repeated, because the result of the first call was lost.
    if (record.token === claim.token) return true;
    if (!record.idle || record.paused || record.endAt !== null) return false;
    const dueAt = facts.dueAt(executionId);
    if (dueAt === undefined || dueAt > now) return false;
    giveClaim(record, claim);
    changes.update(record);
    return true;
  },
};

/** Releases a claim with the work undone. */
export const release: Decision<Release, void> = {
  decide({ token }, record, _facts, changes) {
    if (record?.token !== token) return;
    releaseClaim(record);
    changes.update(record);
  },
};

/** Releases a claim and parks the execution: no process claims it until it is unparked or resumed. */
export const park: Decision<Parameters<Store["park"]>[0], void> = {
  decide({ token, reason, definition }, record, _facts, changes) {
    if (record?.token !== token || record.endAt !== null) return;
    releaseClaim(record);
    record.parked = reason;
    record.parkedUnder = definition;
    changes.update(record);
  },
};

/** Notes that the owner continues with another definition. */
export const adopt: Decision<Parameters<Store["adopt"]>[0], void> = {
  decide({ token, definition }, record, _facts, changes) {
    if (record?.token !== token) return;
    record.definition = definition;
    changes.update(record);
  },
};
