// Which set of a workflow's schedules counts while processes with different code run: of the sets that live processes declare, the
// one that was first declared last. So a new deployment wins from its first process on, an old process that starts again does
// not win back, and after a rollback the old set counts once the last process of the new one is gone.

export interface DeclaredSet {
  /** Of the schedules. */
  readonly hash: string;
  /** When it was first declared. */
  readonly firstAt: number;
  /** The processes that declare it. */
  readonly owners: readonly string[];
  /** Since when none of them is alive; null while one is. */
  readonly goneAt: number | null;
}

export interface SetDeclaration {
  readonly hash: string;
  readonly owner: string;
  readonly now: number;
  isAlive(owner: string): boolean;
}

/** Milliseconds for which a set is remembered that no live process declares: its processes may be starting again. */
const remembered = 3_600_000;

/** The sets with that of the declaring process, and the hash of the one that counts. */
export function declareSet(
  before: readonly DeclaredSet[],
  { hash, owner, now, isAlive }: SetDeclaration,
): { readonly sets: readonly DeclaredSet[]; readonly winner: string } {
  const known = before.some((each) => each.hash === hash);
  // Later than all others, also where the clock was set back.
  const firstAt = Math.max(now, ...before.map((each) => each.firstAt + 1));
  const all = known ? before : [...before, { hash, firstAt, owners: [], goneAt: null }];
  const sets = all
    .map((each): DeclaredSet => {
      const live = each.owners.filter((name) => name !== owner && isAlive(name));
      const owners = each.hash === hash ? [...live, owner].sort() : live;
      return { ...each, owners, goneAt: owners.length > 0 ? null : (each.goneAt ?? now) };
    })
    .filter(({ goneAt }) => goneAt === null || goneAt > now - remembered);
  const live = sets.filter(({ owners }) => owners.length > 0);
  const winner = live.reduce(
    (one, other) => (isLater(other, one) ? other : one),
    live[0] ?? { hash, firstAt: 0 },
  );
  return { sets, winner: winner.hash };
}

function isLater(one: Pick<DeclaredSet, "hash" | "firstAt">, other: Pick<DeclaredSet, "hash" | "firstAt">) {
  return one.firstAt > other.firstAt || (one.firstAt === other.firstAt && one.hash > other.hash);
}
