// The facts that agents keep of a user or in a conversation: read, change and remove them from outside.
import { InvalidOptionError } from "../errors/index.ts";
import type { FactSubject } from "../store/fact-store.ts";
import { problemOfId } from "../values/check-id.ts";
import { isoTime } from "../values/iso-time.ts";
import type { JsonObject } from "../values/merge-patch.ts";
import { uuid } from "../values/uuid.ts";
import type { CallableAgent } from "./call/callable-agent.ts";
import type { FactsOptions } from "./call/message-options.ts";
import { type FactKeeper, factsIn, patchOf } from "./facts/fact-keeper.ts";

/** A user, or a conversation. */
export type FactsOwner = { readonly userId: string } | { readonly conversationId: string };

/** The facts that one agent keeps. */
export interface FactsView {
  readonly agentId: string;
  readonly facts: JsonObject;
  /** How often they were changed; 0 where there are none. */
  readonly version: number;
  /** ISO 8601; null where there are none. */
  readonly updatedAt: string | null;
  /** The last changes, newest first: at most about 100. */
  readonly history: readonly FactsChangeView[];
}

export interface FactsChangeView {
  /** A JSON merge patch. */
  readonly patch: JsonObject;
  /** The user who changed them; null for the agent itself. */
  readonly by: string | null;
  readonly at: string;
  /** Above 1 it stands for so many earlier changes, and its patch is the facts as they were. */
  readonly changes: number;
}

export interface ChangeFactsOptions {
  /** The agent that keeps them. Default: the only one that keeps facts of users, or of conversations. */
  readonly agentId?: string | undefined;
  /** The user who changes them. Default: null. */
  readonly by?: string | null | undefined;
}

export class Facts {
  readonly #keeper: FactKeeper;
  readonly #agents: ReadonlyMap<string, CallableAgent>;
  readonly #ready: Promise<void>;

  constructor(keeper: FactKeeper, agents: ReadonlyMap<string, CallableAgent>, ready: Promise<void>) {
    this.#keeper = keeper;
    this.#agents = agents;
    this.#ready = ready;
  }

  /** Those of each agent that keeps facts of users, or of conversations. */
  async read(owner: FactsOwner): Promise<readonly FactsView[]> {
    const of = subjectOf(owner);
    await this.#ready;
    return Promise.all(this.#keeping(of.scope).map(([agentId]) => this.#view({ ...of, agentId })));
  }

  /** Changes them by a JSON merge patch: null removes a fact, a field that is left out stays. */
  async change(owner: FactsOwner, patch: JsonObject, options: ChangeFactsOptions = {}): Promise<FactsView> {
    const of = subjectOf(owner);
    const { agentId, schema } = this.#chosen(of.scope, options.agentId);
    await this.#ready;
    const origin = { changeId: uuid(), by: options.by ?? null };
    const { change } = await this.#keeper.prepare({ ...of, agentId }, schema, patch, origin);
    await this.#keeper.append(change);
    return this.#view({ ...of, agentId });
  }

  /** Removes all of them with their history, those of agents that are gone too. */
  async remove(owner: FactsOwner): Promise<void> {
    const of = subjectOf(owner);
    await this.#ready;
    await this.#keeper.remove(of);
  }

  async #view(of: FactSubject): Promise<FactsView> {
    const known = await this.#keeper.read(of);
    const last = known.at(-1);
    const history = known.toReversed().map(({ patch, by, at, changes }) => ({
      ...{ patch: patchOf(patch), by, at: isoTime(at), changes },
    }));
    return {
      agentId: of.agentId,
      facts: factsIn(known),
      version: known.reduce((sum, { changes }) => sum + changes, 0),
      updatedAt: last === undefined ? null : isoTime(last.at),
      history,
    };
  }

  #keeping(scope: FactSubject["scope"]): readonly (readonly [agentId: string, facts: FactsOptions])[] {
    return [...this.#agents].flatMap(([agentId, { memory }]) =>
      memory.facts?.scope === scope ? [[agentId, memory.facts] as const] : [],
    );
  }

  #chosen(scope: FactSubject["scope"], agentId: string | undefined) {
    const keeping = this.#keeping(scope);
    const chosen = agentId === undefined ? keeping : keeping.filter(([id]) => id === agentId);
    const [first, ...others] = chosen;
    if (first !== undefined && others.length === 0) return { agentId: first[0], schema: first[1].schema };
    const problem =
      first === undefined
        ? `no such agent keeps facts of a ${scope}`
        : "several agents keep facts: name one of them";
    throw new InvalidOptionError({ option: "agentId", problem });
  }
}

function subjectOf(owner: FactsOwner): Omit<FactSubject, "agentId"> {
  const [option, scope, subject] =
    "userId" in owner
      ? (["userId", "user", owner.userId] as const)
      : (["conversationId", "conversation", owner.conversationId] as const);
  const problem = problemOfId(subject);
  if (problem !== undefined) throw new InvalidOptionError({ option, problem });
  return { scope, subject };
}
