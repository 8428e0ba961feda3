// The last call of a turn's agent, which is committed together with the end of the turn.
import type { CallDeferral, EndedCall } from "../../agent/durable/recorder.ts";
import type { BodyRecords } from "./body-records.ts";

type LaterRecords = Pick<BodyRecords, "recordLater" | "commit">;

export class DeferredCall implements CallDeferral {
  readonly #records: LaterRecords;
  readonly #pathOf: (place: string) => string;
  #committed: Promise<void> | undefined;

  constructor(records: LaterRecords, pathOf: (place: string) => string) {
    this.#records = records;
    this.#pathOf = pathOf;
  }

  defer({ place, ...ended }: EndedCall): void {
    const path = this.#pathOf(place);
    this.#committed = this.#records.recordLater({ path, attempt: 1, ...ended }, `Output of ${path}`);
    // The commit reports a failure; the end of the turn fails by itself.
    this.#committed.catch(() => undefined);
  }

  get isDeferring(): boolean {
    return this.#committed !== undefined;
  }

  async commit(): Promise<void> {
    const committed = this.#committed;
    this.#records.commit();
    // It is deferred until it is committed: others may ask meanwhile, and one that failed was not.
    await committed;
    if (this.#committed === committed) this.#committed = undefined;
  }
}
