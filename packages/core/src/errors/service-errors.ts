// Conditions of the service itself: full, shutting down, its storage in trouble, or a store that lacks an operation.
import { AndanteError } from "./andante-error.ts";

export class CapacityError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(`Too many executions are running (limit ${limit}), try again later`, {
      code: "capacity",
      status: 503,
      retryAfter: 1,
    });
  }
}

/** Others wait, and this user holds its share of the slots already. */
export class UserShareError extends AndanteError {
  constructor({ limit, userShare }: { limit: number; userShare: number }) {
    super(
      `You run your share of the ${limit} executions that may run here (limits.userShare ${userShare}) while others wait, try again later`,
      { code: "user-share", status: 503, retryAfter: 1 },
    );
  }
}

/** Forks or replays of this user run or wait already; this one was not begun. */
export class TooManyCopiesError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(`Too many of your forks or replays run or wait (limit ${limit}), try again later`, {
      code: "too-many-copies",
      status: 429,
      retryAfter: 2,
    });
  }
}

/** The process stops. An execution named here continues after the restart. */
export class ShuttingDownError extends AndanteError {
  constructor({ executionId }: { executionId?: string | undefined } = {}) {
    super("The server is shutting down, try again later", {
      code: "shutting-down",
      status: 503,
      retryAfter: 5,
      executionId,
    });
  }
}

/** Nothing was written. The words of the database are the cause, for the log. */
export class StoreUnavailableError extends AndanteError {
  constructor({ cause }: { cause?: unknown } = {}) {
    super("The store is not available, try again later", {
      code: "store-unavailable",
      status: 503,
      retryAfter: 2,
      cause,
    });
  }
}

/** The store keeps no index of values. */
export class SearchUnsupportedError extends AndanteError {
  constructor() {
    super("This server cannot search in values: its store keeps no index of them", {
      code: "search-unsupported",
      status: 501,
    });
  }
}

/** The service cannot work: the response to a health probe. */
export class UnhealthyError extends AndanteError {
  constructor({ problem }: { problem: string }) {
    super(`The service is not healthy: ${problem}`, { code: "unhealthy", status: 503, retryAfter: 5 });
  }
}

/** Too many reads wait already; this one was not begun. */
export class StoreBusyError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(`Too many requests wait for the store (limit ${limit}), try again later`, {
      code: "store-busy",
      status: 503,
      retryAfter: 1,
    });
  }
}

/** One write was refused by the database and failed alone. */
export class StoreRefusedError extends AndanteError {
  constructor({ operation, cause }: { operation: string; cause?: unknown }) {
    super(`The store refused the operation ${operation}`, { code: "store-refused", status: 500, cause });
  }
}

/** The store could not be opened at start. */
export class StoreOpenError extends AndanteError {
  constructor({ path, problem, cause }: { path: string; problem: string; cause?: unknown }) {
    super(`Cannot open the store ${path}: ${problem}`, { code: "store-open", status: 500, cause });
  }
}

/** A journal holds an event of a type that this release does not know: a later one wrote it. */
export class UnknownEventError extends AndanteError {
  constructor({ type, sequence }: { type: string; sequence: number }) {
    super(`Event ${sequence} of the journal has the type "${type}", which this release does not know`, {
      code: "unknown-event",
      status: 500,
    });
  }
}

/** A journal lacks an event, or one of its values refers to an event that is not earlier: nothing is read beyond it. */
export class JournalDamagedError extends AndanteError {
  readonly sequence: number;
  readonly problem: string;
  constructor({ sequence, problem }: { sequence: number; problem: string }) {
    super(`The journal is damaged at event ${sequence}: ${problem}`, {
      code: "journal-damaged",
      status: 500,
    });
    this.sequence = sequence;
    this.problem = problem;
  }
}
