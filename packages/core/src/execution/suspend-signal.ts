// How `suspend` leaves a body: by throwing a value that only this module can make or recognise.
import type { JsonText } from "../workflow/json.ts";

/** What a body said when it suspended. */
export interface SuspendRequest {
  readonly reason: string;
  readonly data: JsonText;
}

/** Thrown by `suspend`. An Error, so that a body that logs what it catches shows something sensible. */
export class SuspendSignal extends Error {
  readonly #request: SuspendRequest;

  constructor(request: SuspendRequest) {
    super("The step is suspended. Do not catch this: let it pass, or throw it again.");
    this.name = "SuspendSignal";
    this.#request = request;
  }

  /** The request inside, when the value is one of ours. The private field is the brand: it cannot be forged. */
  static requestOf(thrown: unknown): SuspendRequest | undefined {
    return typeof thrown === "object" && thrown !== null && #request in thrown ? thrown.#request : undefined;
  }
}
