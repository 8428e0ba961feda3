// Limits the requests of deliveries: `maxRequests` at once, and `maxOfReceiver` to one receiver, which is an endpoint or the host
// of pushes. A delivery waits in a line for a place, and where the line is full until a later time. A receiver gets no more of the places,
// and of the lines, than it leaves free: any number of slow receivers with many deliveries leaves room for others.
import type { Clock } from "../values/clock.ts";

/** Requests at once, and those to one receiver. */
const maxRequests = 64;
const maxOfReceiver = 16;
/** Deliveries in lines, and in that of one receiver. */
const maxWaiting = 500;
const maxWaitingForReceiver = 100;
/** Milliseconds until the next try of those that found the line full. */
const [shortestWait, longestWait] = [1_000, 5 * 60_000];
/** Milliseconds that a place is taken for, until it is known. */
const usual = 1_000;

/** - `stopped`: no more requests are made. - `full`: to be tried again at `tryAt`. */
export type PlaceResult =
  | { readonly kind: "taken"; free(): void }
  | { readonly kind: "full"; readonly tryAt: number }
  | { readonly kind: "stopped" };

interface Lane {
  requests: number;
  readonly line: ((isFree: boolean) => void)[];
  /** Milliseconds that a place was taken for, on average. */
  mean: number;
  /** The time of the next try that was given last. */
  tryAt: number;
}

export class DeliveryPlaces {
  readonly #clock: Pick<Clock, "now">;
  readonly #signal: AbortSignal;
  readonly #lanes = new Map<string, Lane>();
  #requests = 0;
  #waiting = 0;

  constructor(clock: Pick<Clock, "now">, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#leave(), { once: true });
  }

  /** Waits for a place, if not too many do already. */
  async take(receiver: string): Promise<PlaceResult> {
    if (this.#signal.aborted) return { kind: "stopped" };
    const lane = this.#lanes.get(receiver) ?? { requests: 0, line: [], mean: usual, tryAt: 0 };
    this.#lanes.set(receiver, lane);
    if (!this.#hasRoom(lane)) {
      if (this.#isFull(lane)) return { kind: "full", tryAt: this.#nextTry(lane) };
      const { promise, resolve } = Promise.withResolvers<boolean>();
      lane.line.push(resolve);
      this.#waiting++;
      if (!(await promise)) return { kind: "stopped" };
    } else this.#enter(lane);
    const since = performance.now();
    const free = () => {
      lane.mean += (performance.now() - since - lane.mean) / 10;
      lane.requests--;
      this.#requests--;
      this.#admit();
      if (lane.requests === 0 && lane.line.length === 0) this.#lanes.delete(receiver);
    };
    return { kind: "taken", free };
  }

  /** Now; or where the line is full, the time of the next try: a delivery that is made now need not be put off later. */
  dueAt(receiver: string): number {
    const lane = this.#lanes.get(receiver);
    return lane && this.#isFull(lane) ? this.#nextTry(lane) : this.#clock.now();
  }

  #isFull({ line }: Lane): boolean {
    return line.length >= Math.max(1, Math.min(maxWaitingForReceiver, maxWaiting - this.#waiting));
  }

  #hasRoom({ requests }: Lane): boolean {
    return requests < Math.min(maxOfReceiver, maxRequests - this.#requests);
  }

  #enter(lane: Lane): void {
    lane.requests++;
    this.#requests++;
  }

  /** Gives free places to those in line, a receiver after the other. */
  #admit(): void {
    while (this.#admitOne());
  }

  #admitOne(): boolean {
    for (const [receiver, lane] of this.#lanes) {
      if (lane.line.length === 0 || !this.#hasRoom(lane)) continue;
      this.#waiting--;
      this.#enter(lane);
      lane.line.shift()?.(true);
      // Its next turn is after the others.
      this.#lanes.delete(receiver);
      this.#lanes.set(receiver, lane);
      return true;
    }
    return false;
  }

  /** Twice as many are tried again as the receiver takes, in their order: it may become faster, and then has some at hand. */
  #nextTry(lane: Lane): number {
    const now = this.#clock.now();
    const next = Math.max(lane.tryAt, now + shortestWait) + lane.mean / maxOfReceiver / 2;
    if (next > now + longestWait) return now + Math.round(longestWait * (0.5 + Math.random() / 2));
    lane.tryAt = next;
    return Math.round(next);
  }

  #leave(): void {
    this.#waiting = 0;
    for (const { line } of this.#lanes.values()) for (const leave of line.splice(0)) leave(false);
  }
}
