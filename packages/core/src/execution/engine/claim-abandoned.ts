// Claims abandoned work in the name of this process.
import { randomUUID } from "node:crypto";
import type { Claim, ClaimAbandoned, ClaimedExecution, Store } from "../../store/store.ts";
import type { Claims } from "./claims.ts";

export interface Claimed {
  readonly row: ClaimedExecution;
  readonly claim: Claim;
}

/** The claims are held here until `load` is done with them. */
export async function claimAbandoned<Loaded>(
  { claims, store }: { readonly claims: Claims; readonly store: Pick<Store, "claimAbandoned"> },
  query: Omit<ClaimAbandoned, "owner" | "key">,
  load: (claimed: readonly Claimed[]) => Promise<Loaded>,
): Promise<Loaded> {
  const { taker: owner } = claims;
  const key = randomUUID();
  return claims.during(key, async () => {
    const found = await store.claimAbandoned({ ...query, owner, key });
    return load(found.map(({ row, token }) => ({ row, claim: { owner, token } })));
  });
}
