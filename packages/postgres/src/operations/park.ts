// Releases a claim and parks the execution: no process claims it until it is unparked or resumed.
import { writeFreeText } from "../columns.ts";
import type { GroupOperation } from "../write/operation.ts";

export interface Park {
  readonly executionId: string;
  readonly token: string;
  readonly reason: string;
  readonly definition: string;
}

export const park: GroupOperation<Park, void> = {
  decide({ token, reason, definition }, row, _facts, changes) {
    if (row?.token !== token || row.endAt !== null) return;
    row.owner = null;
    row.token = null;
    row.parked = writeFreeText(reason);
    row.parkedUnder = definition;
    changes.row(row);
  },
};
