// Schedules: when executions start by themselves.
import { type Connection, part } from "../connection/connection.ts";
import { type Listing, listing } from "../connection/listing.ts";
import type { CallOptions, PageOptions } from "../connection/options.ts";
import type {
  Schedule,
  ScheduleBackfill,
  ScheduleOccurrences,
  SchedulePage,
  SchedulePreview,
  ScheduleTrigger,
} from "../responses/wire.ts";

/** Milliseconds, or a number with its unit. */
type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

export interface ScheduleTiming {
  /** 5 fields, or 6 with seconds first. */
  readonly cron?: string | undefined;
  /** The time zone of `cron`. Default: UTC. */
  readonly zone?: string | undefined;
  /** In place of `cron`: the time between two occurrences, at least 1 s. */
  readonly every?: Duration | undefined;
  /** No occurrence is before it. */
  readonly from?: Date | string | undefined;
  /** No occurrence is after it. */
  readonly to?: Date | string | undefined;
}

export interface ScheduleOptions extends ScheduleTiming {
  /** The workflow whose executions it starts, or an `agentId`. */
  readonly workflowId?: string | undefined;
  /** The agent that its prompts go to. */
  readonly agentId?: string | undefined;
  /** For an agent: the message of each occurrence. */
  readonly prompt?: string | undefined;
  /** For an agent: the conversation of its prompts. Default: one for the schedule, with its id. */
  readonly conversationId?: string | undefined;
  /** The input of its executions. Default: none. */
  readonly input?: unknown;
  readonly jitter?: Duration | undefined;
  /** Default: `skip`. */
  readonly overlap?: Schedule["overlap"] | undefined;
  /** Default: `latest`. */
  readonly catchUp?: Schedule["catchUp"] | undefined;
  /** Occurrences that are older are not made up. Default: 7 d. */
  readonly window?: Duration | undefined;
  /** After so many failed executions in a row it is paused. Default: it is not. */
  readonly pauseOnFailure?: number | undefined;
  readonly tags?: readonly string[] | undefined;
  /** The user its executions belong to; with authentication that of the token. */
  readonly userId?: string | undefined;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
}

export interface ScheduleFilter extends PageOptions {
  readonly workflowId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly userId?: string | undefined;
}

export interface SetScheduleOptions extends CallOptions {
  /** Refused with 412 when the schedule has another revision. Default: any. */
  readonly ifRevision?: number | undefined;
}

export interface BackfillOptions extends CallOptions {
  readonly from: Date | string;
  readonly to: Date | string;
  /** Only returns the times. Default: false. */
  readonly dryRun?: boolean | undefined;
}

export class SchedulesClient {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** By their ids. */
  list(filter: ScheduleFilter = {}): Listing<SchedulePage, Schedule> {
    return listing(this.#connection, "/api/schedules", filter, ({ schedules }) => schedules);
  }

  get(scheduleId: string, { signal }: CallOptions = {}): Promise<Schedule> {
    return this.#connection.repeat({ path: pathOf(scheduleId), signal });
  }

  /** Creates or replaces it. One that is the same already keeps its revision. */
  set(
    scheduleId: string,
    options: ScheduleOptions,
    { ifRevision, signal }: SetScheduleOptions = {},
  ): Promise<Schedule> {
    const headers = ifRevision === undefined ? {} : { "if-match": `"${ifRevision}"` };
    return this.#connection.send({ method: "PUT", path: pathOf(scheduleId), body: options, headers, signal });
  }

  /** Executions that it has started go on. */
  async remove(scheduleId: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: pathOf(scheduleId), signal });
  }

  /** Nothing is made up for the time of a pause. */
  pause(
    scheduleId: string,
    { reason, signal }: CallOptions & { readonly reason?: string | undefined } = {},
  ): Promise<Schedule> {
    return this.#post(scheduleId, "pause", { reason }, signal);
  }

  resume(scheduleId: string, { signal }: CallOptions = {}): Promise<Schedule> {
    return this.#post(scheduleId, "resume", {}, signal);
  }

  /** Starts an execution, or posts the prompt, now. */
  trigger(scheduleId: string, { signal }: CallOptions = {}): Promise<ScheduleTrigger> {
    return this.#post(scheduleId, "trigger", {}, signal);
  }

  /** Starts the occurrences of a time that has passed, except those that ran. */
  backfill(scheduleId: string, { signal, ...body }: BackfillOptions): Promise<ScheduleBackfill> {
    return this.#post(scheduleId, "backfill", body, signal);
  }

  /** The last ones, the newest first. */
  async occurrences(
    scheduleId: string,
    { signal }: CallOptions = {},
  ): Promise<ScheduleOccurrences["occurrences"]> {
    const path = `${pathOf(scheduleId)}/occurrences`;
    return (await this.#connection.repeat<ScheduleOccurrences>({ path, signal })).occurrences;
  }

  /** The next times of options, and those beside the next changes of the zone's clocks. */
  preview(
    options: ScheduleTiming & { readonly count?: number | undefined },
    { signal }: CallOptions = {},
  ): Promise<SchedulePreview> {
    return this.#connection.send({ method: "POST", path: "/api/schedule-preview", body: options, signal });
  }

  #post<Result>(
    scheduleId: string,
    command: string,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    return this.#connection.send({ method: "POST", path: `${pathOf(scheduleId)}/${command}`, body, signal });
  }
}

function pathOf(scheduleId: string): string {
  return `/api/schedules/${part(scheduleId)}`;
}
