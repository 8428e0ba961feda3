// Logs and traces, as the store contract names what is done with them.
import type { ObservationStore } from "@andante/core/store";
import type { Readers } from "../../connection/readers.ts";
import { countSuspended } from "../counts.ts";
import { append } from "./append.ts";
import { logs, logsElsewhere } from "./logs.ts";
import { trace, traces } from "./traces.ts";
import { keepFrom, trim } from "./trim.ts";

export function observations(readers: Readers, s: string, node: string): ObservationStore {
  return {
    append: append(readers, s, node),
    trim: trim(readers, s),
    keepFrom: keepFrom(readers, s),
    logs: logs(readers, s),
    logsElsewhere: logsElsewhere(readers, s, node),
    traces: traces(readers, s),
    trace: trace(readers, s),
    countSuspended: countSuspended(readers, s),
  };
}
