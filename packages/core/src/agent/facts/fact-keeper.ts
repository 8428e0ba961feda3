// The facts that agents keep of users and conversations: a fold of changes, each validated before it is kept.
import { InvalidFactsError } from "../../errors/index.ts";
import type { FactChange, FactStore, FactSubject, KeptFact } from "../../store/fact-store.ts";
import type { Clock } from "../../values/clock.ts";
import { isRecord } from "../../values/fields.ts";
import { type JsonObject, mergePatch } from "../../values/merge-patch.ts";
import { type Schema, validate } from "../../values/schema.ts";

/** Characters of all facts of one subject, and of each change of them, as JSON. */
const maxLength = 16_000;
/** Changes that are kept one by one: above `most` the oldest are folded into one, and `kept` stay. */
const history = { most: 100, kept: 50 };

export class FactKeeper {
  readonly #store: FactStore;
  readonly #clock: Clock;

  constructor(store: FactStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The changes that count, oldest first. The first one may stand for several. */
  async read(of: FactSubject): Promise<readonly KeptFact[]> {
    const changes = await this.#store.read(of);
    return changes.slice(Math.max(0, changes.findLastIndex(isFolded)));
  }

  /**
   * A change that may be kept, and the facts with it. Rejects when those would not fit the schema. Another chat may change
   * them before it is kept: both changes count then.
   */
  async prepare(
    of: FactSubject,
    schema: Schema,
    patch: unknown,
    { changeId, by }: Pick<FactChange, "changeId" | "by">,
  ): Promise<{ readonly change: FactChange; readonly facts: JsonObject }> {
    if (!isRecord(patch)) throw new InvalidFactsError({ detail: "expected an object" });
    const known = await this.read(of);
    const facts = mergePatch(factsIn(known), patch);
    const valid = await validate(schema, facts);
    if (!valid.ok) throw new InvalidFactsError({ detail: valid.detail });
    if (JSON.stringify(facts).length > maxLength)
      throw new InvalidFactsError({ detail: `they have more than ${maxLength} characters` });
    const text = JSON.stringify(patch);
    // A change that removes fields can be longer than the facts with it.
    if (text.length > maxLength)
      throw new InvalidFactsError({ detail: `the change has more than ${maxLength} characters` });
    if (known.length > history.most) await this.#fold(of, known.slice(0, -history.kept));
    // After the last one also where the clock of its node is ahead.
    const at = Math.max(this.#clock.now(), (known.at(-1)?.at ?? 0) + 1);
    // Of identifiers only these three: `of` may have more.
    const { agentId, scope, subject } = of;
    return { change: { agentId, scope, subject, changeId, patch: text, by, at }, facts };
  }

  append(change: FactChange): Promise<void> {
    return this.#store.append(change);
  }

  remove(which: Omit<FactSubject, "agentId">): Promise<void> {
    return this.#store.remove(which);
  }

  async #fold(of: FactSubject, oldest: readonly KeptFact[]): Promise<void> {
    const last = oldest.at(-1);
    if (last === undefined) return;
    const changes = oldest.reduce((sum, each) => sum + each.changes, 0);
    await this.#store.fold({ ...of, ...last, patch: JSON.stringify(factsIn(oldest)), by: null, changes });
  }
}

/** The facts that follow from changes. */
export function factsIn(changes: readonly KeptFact[]): JsonObject {
  return changes.reduce((facts, { patch }) => mergePatch(facts, patchOf(patch)), {});
}

/** A patch that is kept: we wrote it ourselves. */
export function patchOf(text: string): JsonObject {
  return JSON.parse(text);
}

function isFolded({ changes }: KeptFact): boolean {
  return changes > 1;
}
