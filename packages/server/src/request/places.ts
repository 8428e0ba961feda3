// Places that clients hold, such as open streams: their limit, and the client that loses one when all are taken.
//
// Any client may take a free place. When none is free, a client below its share takes one from the client that holds
// most, if that client exceeds its share; any other is refused. So one client may use all of an idle server, but cannot
// keep others out.
import type { AndanteError } from "@andante/core";

export interface PlacesOptions {
  /** Places for all clients together. */
  readonly limit: number;
  /** The fraction of places that a client keeps while others are refused, above 0 and up to 1. */
  readonly share: number;
  /** The error for a client that gets no place. */
  refusal(limit: number): AndanteError;
}

/** A place that a client holds. */
export interface Place {
  /** Called when another client takes the place. A place without it cannot be taken. */
  cut?: (() => void) | undefined;
  /** Frees the place. */
  end(): void;
}

export class Places {
  readonly #options: PlacesOptions;
  readonly #share: number;
  readonly #held = new Map<string, Set<Place>>();
  #count = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#share = Math.max(1, Math.floor(options.limit * options.share));
  }

  get count(): number {
    return this.#count;
  }

  /** Takes a place for a client, or throws. */
  take(client: string, cut?: () => void): Place {
    if (this.#count >= this.#options.limit && !this.#makeRoom(client)) throw this.refusal();
    const place: Place = { cut, end: () => this.#end(client, place) };
    const own = this.#held.get(client);
    if (own === undefined) this.#held.set(client, new Set([place]));
    else own.add(place);
    this.#count += 1;
    return place;
  }

  refusal(): AndanteError {
    return this.#options.refusal(this.#options.limit);
  }

  #end(client: string, place: Place): void {
    const own = this.#held.get(client);
    if (own?.delete(place) !== true) return;
    this.#count -= 1;
    if (own.size === 0) this.#held.delete(client);
  }

  /** Takes the newest place of the client that holds most; false where no client holds more than its share. */
  #makeRoom(client: string): boolean {
    if ((this.#held.get(client)?.size ?? 0) >= this.#share) return false;
    let most: ReadonlySet<Place> | undefined;
    for (const places of this.#held.values()) if (places.size > (most?.size ?? this.#share)) most = places;
    const newest = [...(most ?? [])].findLast(({ cut }) => cut !== undefined);
    newest?.end();
    newest?.cut?.();
    return newest !== undefined;
  }
}
