// Releases a claim with the work undone.
import type { Release } from "@andante/core/store";
import type { GroupOperation } from "../write/operation.ts";

export const release: GroupOperation<Release, void> = {
  decide({ token }, row, _facts, changes) {
    if (row?.token !== token) return;
    row.owner = null;
    row.token = null;
    changes.row(row);
  },
};
