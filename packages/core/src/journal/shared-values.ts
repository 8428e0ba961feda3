// Long values of events that are held together: each is in memory once, however many events have it.
import { type StoredEvent, storedLength } from "../store/stored-event.ts";
import { isLong } from "./kept-values.ts";

export class SharedValues {
  readonly #values = new Map<string, string>();
  #length = 0;

  /** How many characters the events have together. */
  get length(): number {
    return this.#length;
  }

  /** The event, with the value that is held already where there is one. */
  share(event: StoredEvent): StoredEvent {
    const { value } = event;
    const known = isLong(value) ? this.#values.get(value) : undefined;
    if (known !== undefined) return { ...event, value: known };
    if (isLong(value)) this.#values.set(value, value);
    this.#length += storedLength(event);
    return event;
  }
}
