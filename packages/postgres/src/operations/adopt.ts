// Notes that the owner of an execution continues with another definition.
import type { GroupOperation } from "../write/operation.ts";

export interface Adopt {
  readonly executionId: string;
  readonly token: string;
  readonly definition: string;
}

export const adopt: GroupOperation<Adopt, void> = {
  decide({ token, definition }, row, _facts, changes) {
    if (row?.token !== token) return;
    row.definition = definition;
    changes.row(row);
  },
};
