// Facts of the store of maps.
import type { FactChange, FactSubject, KeptFact } from "../../src/store/fact-store.ts";

type Fact = FactChange & Pick<KeptFact, "changes">;

export class PlainFacts {
  #facts: Fact[] = [];

  readonly operations = {
    append: (change: FactChange): void => this.append(change),
    read: ({ scope, subject, agentId }: FactSubject): KeptFact[] =>
      this.#facts
        .filter((each) => each.scope === scope && each.subject === subject && each.agentId === agentId)
        .sort(byPlace)
        .slice(-1_000)
        .map(({ changeId, patch, by, at, changes }) => ({ changeId, patch, by, at, changes })),
    fold: (base: Fact): void => {
      const isFolded = (each: Fact) =>
        each.scope === base.scope &&
        each.subject === base.subject &&
        each.agentId === base.agentId &&
        byPlace(each, base) <= 0;
      this.#facts = [...this.#facts.filter((each) => !isFolded(each)), base];
    },
    remove: (which: Omit<FactSubject, "agentId">): void => this.remove(which),
  };

  append(change: FactChange): void {
    const isThere = this.#facts.some((each) => each.changeId === change.changeId && each.at === change.at);
    if (!isThere) this.#facts.push({ ...change, changes: 1 });
  }

  remove({ scope, subject }: Omit<FactSubject, "agentId">): void {
    this.#facts = this.#facts.filter((each) => each.scope !== scope || each.subject !== subject);
  }
}

function byPlace(a: Fact, b: Fact): number {
  return a.at - b.at || (a.changeId < b.changeId ? -1 : Number(a.changeId > b.changeId));
}
