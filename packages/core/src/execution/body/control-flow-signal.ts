// How `suspend` and `bail` leave a body: by throwing a value that only this module can make or recognise.
import type { JsonText } from "../../values/json.ts";

/** What a body said when it suspended. */
export interface SuspendRequest {
  readonly kind: "suspend";
  readonly reason: string;
  readonly data: JsonText;
  /** Milliseconds since 1970; null when it waits for ever. */
  readonly deadline: number | null;
  /** What happens then, as JSON text; null without a deadline. */
  readonly onDeadline: string | null;
}

/** What a body said when it bailed. */
export interface BailRequest {
  readonly kind: "bail";
  readonly result: JsonText;
}

export type ControlFlowRequest = SuspendRequest | BailRequest;

/** Thrown by `suspend` and `bail`. An Error, so that a body that logs what it catches shows something sensible. */
export class ControlFlowSignal extends Error {
  readonly #request: ControlFlowRequest;

  constructor(request: ControlFlowRequest) {
    super(`${request.kind}() ends the body by throwing this error. If you catch it, rethrow it.`);
    this.name = "ControlFlowSignal";
    this.#request = request;
  }

  /** The request inside, when the value is one of ours. The private field is the brand: it cannot be forged. */
  static requestOf(thrown: unknown): ControlFlowRequest | undefined {
    return typeof thrown === "object" && thrown !== null && #request in thrown ? thrown.#request : undefined;
  }
}
