// Errors that a caller of a schedule can meet.
import { AndanteError } from "./andante-error.ts";

export class ScheduleNotFoundError extends AndanteError {
  constructor({ scheduleId }: { scheduleId: string }) {
    super(`Schedule ${scheduleId} not found`, { code: "schedule-not-found", status: 404 });
  }
}

/** The schedule is declared in code, or belongs to another user. */
export class ScheduleConflictError extends AndanteError {
  constructor({ scheduleId, problem }: { scheduleId: string; problem: string }) {
    super(`Schedule ${scheduleId} ${problem}`, { code: "schedule-conflict", status: 409 });
  }
}

/** The user has as many schedules as one may have. */
export class ScheduleLimitError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(`The user has ${limit} schedules already: remove one first (limits.schedulesPerUser)`, {
      code: "schedule-limit",
      status: 409,
    });
  }
}

/** The schedule has another revision than the one that the caller has read. */
export class ScheduleRevisionError extends AndanteError {
  constructor({ scheduleId, revision }: { scheduleId: string; revision: number }) {
    super(`Schedule ${scheduleId} has revision ${revision}`, {
      code: "schedule-revision",
      status: 412,
    });
  }
}
