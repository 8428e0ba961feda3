// The operations on logs and traces of the store contract.
import type { ObservationStore } from "@andante/core/store";
import type { Readers } from "../../connection/readers.ts";
import { countSuspended } from "../counts.ts";
import { append } from "./append.ts";
import { logs, logsElsewhere } from "./logs.ts";
import { spansElsewhere, trace, traces } from "./traces.ts";
import { keepFrom, trim } from "./trim.ts";

export function observations(readers: Readers, s: string, node: string): ObservationStore {
  return {
    append: append(readers, s, node),
    trim: trim(readers, s),
    keepFrom: keepFrom(readers, s),
    logs: readers.forCallers(logs(readers, s, node)),
    logsElsewhere: logsElsewhere(readers, s, node),
    spansElsewhere: spansElsewhere(readers, s, node),
    traces: readers.forCallers(traces(readers, s)),
    trace: readers.forCallers(trace(readers, s)),
    countSuspended: readers.forCallers(countSuspended(readers, s)),
  };
}
