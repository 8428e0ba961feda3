// The permission of one caller for one route or socket: the only caller of the host's `authorize`.
import { ForbiddenError } from "../errors/auth-errors.ts";
import type { Authorize, Reveals, Scope } from "./authorize.ts";
import type { Caller } from "./gate.ts";
import { type View, viewOf } from "./view.ts";

export type Ids = Readonly<Record<string, string>>;

/** The permission fields of a route or a socket. */
export interface Guarded {
  readonly action: string;
  /** Actions that must be allowed too, because this one shows or does the same in another way. */
  readonly requires?: readonly string[];
  /** The same for a resource that has this id, such as `agentId`. */
  readonly requiresWith?: Readonly<Record<string, string>>;
  readonly reveals?: Reveals;
  /** With authentication only an `authorize` that returns true permits it. Default: every admitted caller may. */
  readonly explicit?: true;
}

/** The ids of an entry of a list or feed; null where it has none of that kind. */
export interface EntryIds {
  readonly workflowId?: string | null;
  readonly agentId?: string | null;
  readonly conversationId?: string | null;
  /** The owner; absent where entries have no owners, such as definitions. */
  readonly userId?: string | null;
}

/** Maximum cached decisions about entries: the oldest are evicted and requested again. */
const maxDecisions = 1000;

export class Permission {
  readonly #authorize: Authorize | undefined;
  readonly #authEnabled: boolean;
  readonly #caller: Caller;
  readonly #guarded: Guarded;
  readonly #decisions = new Map<string, Promise<Scope | undefined>>();

  constructor(authorize: Authorize | undefined, authEnabled: boolean, caller: Caller, guarded: Guarded) {
    this.#authorize = authorize;
    this.#authEnabled = authEnabled;
    this.#caller = caller;
    this.#guarded = guarded;
  }

  /** Whether the host has an `authorize`. */
  get asks(): boolean {
    return this.#authorize !== undefined;
  }

  /** The caller's scope; throws a ForbiddenError. Synchronous without an `authorize`. */
  scopeOf(ids: Ids): Scope | Promise<Scope> {
    if (this.#authorize !== undefined) return this.#decide(this.#authorize, ids);
    const { reveals, explicit, action } = this.#guarded;
    if (explicit && this.#authEnabled) throw new ForbiddenError({ action });
    const isOpen = !this.#authEnabled || reveals === undefined;
    return isOpen || (reveals === "outline" && this.#caller.user === undefined) ? "all" : "own";
  }

  /** The caller's view of log lines and spans. */
  async look(ids: Ids): Promise<View> {
    return viewOf(await this.scopeOf(ids), this.#caller, this.#authEnabled);
  }

  /** The entries of a list that the caller may see. Calls `authorize` once for each distinct set of ids. */
  async visible<T>(entries: readonly T[], idsOf: (entry: T) => EntryIds): Promise<readonly T[]> {
    if (!this.asks) return entries;
    const seen = await Promise.all(entries.map((entry) => this.#sees(idsOf(entry))));
    // The same array where all are visible: feeds encode it once for all clients that may see it.
    return seen.every(Boolean) ? entries : entries.filter((_, index) => seen[index]);
  }

  async #sees(ids: EntryIds): Promise<boolean> {
    const given = givenIds(ids);
    // Without an id the decision about the whole list applies.
    if (Object.keys(given).length === 0) return true;
    const scope = await this.#kept(given);
    if (scope !== "own" || ids.userId === undefined) return scope !== undefined;
    return ids.userId !== null && ids.userId === this.#caller.userId;
  }

  /** The cached decision about an entry; undefined where it is refused. */
  #kept(ids: Ids): Promise<Scope | undefined> {
    const key = JSON.stringify(ids);
    const known = this.#decisions.get(key);
    if (known !== undefined) return known;
    const decision = Promise.resolve(this.scopeOf(ids)).catch((error: unknown) => {
      if (error instanceof ForbiddenError) return undefined;
      this.#decisions.delete(key);
      throw error;
    });
    this.#decisions.set(key, decision);
    const [oldest] = this.#decisions.keys();
    if (this.#decisions.size > maxDecisions && oldest !== undefined) this.#decisions.delete(oldest);
    return decision;
  }

  async #decide(authorize: Authorize, ids: Ids): Promise<Scope> {
    const { action: own, requires = [], requiresWith = {}, explicit } = this.#guarded;
    const others = Object.entries(requiresWith).flatMap(([id, action]) =>
      ids[id] === undefined ? [] : [action],
    );
    let scope: Scope = "all";
    for (const action of [own, ...requires, ...others]) {
      const { user, userId } = this.#caller;
      const decision = await authorize({ user, userId, action, resource: withBothNames(action, ids) });
      // Only `true` and "own" allow: a host in plain JavaScript may return undefined by mistake.
      const isAllowed = decision === true || (decision === "own" && !(explicit && action === own));
      if (!isAllowed) throw new ForbiddenError({ action });
      if (decision === "own") scope = "own";
    }
    return scope;
  }
}

/** The ids that are given: not null, and not undefined. */
export function givenIds(ids: object): Ids {
  const given = Object.entries(ids).filter((id): id is [string, string] => typeof id[1] === "string");
  return Object.fromEntries(given);
}

/** Adds the id of a definition under both its names: `id` and `workflowId` or `agentId`. */
function withBothNames(action: string, ids: Ids): Ids {
  const name = nameOfId(action);
  if (name === undefined) return ids;
  const id = ids.id ?? ids[name];
  return id === undefined ? ids : { ...ids, id, [name]: id };
}

/** The name of the definition that `id` means for this action. */
export function nameOfId(action: string): "workflowId" | "agentId" | undefined {
  if (/^(workflows|executions)\./.test(action)) return "workflowId";
  return action.startsWith("agents.") ? "agentId" : undefined;
}
