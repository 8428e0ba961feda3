// One alarm on a clock: set to the next time that matters, moved when that changes.
import type { Clock } from "../../values/clock.ts";

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #set: { readonly at: number; cancel(): void } | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings once at this time; undefined cancels it. */
  set(at: number | undefined): void {
    if (this.#set?.at === at) return;
    this.cancel();
    if (at === undefined) return;
    const cancel = this.#clock.at(at, "sleep", () => {
      this.#set = undefined;
      this.#ring();
    });
    this.#set = { at, cancel };
  }

  cancel(): void {
    this.#set?.cancel();
    this.#set = undefined;
  }
}
