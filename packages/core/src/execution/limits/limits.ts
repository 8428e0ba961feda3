// Size limits: of the data of callers, of the output of steps, and of the journal.
import { JournalLimitError, OptionError, OutputLimitError, TooLargeError } from "../../errors/index.ts";
import { toFailure } from "../../journal/failure.ts";
import type { Outcome } from "../../journal/outcome.ts";
import { type NewStoredEvent, storedBytes, storedLength } from "../../store/stored-event.ts";
import { parseObject } from "../../values/fields.ts";
import { isWiderThan, type JsonText } from "../../values/json.ts";

/** Sizes are bytes of JSON text in UTF-8. */
export interface AndanteLimits {
  /**
   * Executions that run here at once; more starts are refused with 503, resumes wait for their turn. Suspended and
   * sleeping ones do not count. Default: 1000.
   */
  readonly running?: number;
  /**
   * Replies of agents that run here at once, outside workflows; more are refused with 503, except that users who have less
   * than a tenth of them get up to a tenth more. Default: 1000.
   */
  readonly agentReplies?: number;
  /** Messages that wait in one conversation; more are refused with 409. Default: 100. */
  readonly queuedMessages?: number;
  /** Schedules that one user has; more are refused with 409. Those without a user have no limit. Default: 1000. */
  readonly schedulesPerUser?: number;
  /**
   * The part of `running`, above 0 and up to 1, that one user may hold while others wait; then its starts are refused
   * with 503 and its resumes wait. Executions without a user count together, as those of one. Default: 0.5.
   */
  readonly userShare?: number;
  /** The input of an execution; a larger one is refused with 413. Default: 4 MiB. */
  readonly input?: number;
  /** The context of an execution or of a call of an agent, with its user; a larger one is refused with 413. Default: 1 MiB. */
  readonly context?: number;
  /**
   * The resume data of a suspension; larger data is refused with 413. Larger data for a deadline fails the step.
   * Default: 4 MiB.
   */
  readonly resumeData?: number;
  /** The reason of a suspension or a cancellation; a caller's is refused with 413, a step's fails it. Default: 64 KiB. */
  readonly reason?: number;
  /**
   * The output of a step, or the data passed to `suspend`, `bail` or `emit`; a larger one fails the step. Default:
   * 4 MiB.
   */
  readonly output?: number;
  /** The output of a container, such as the array of andAll or andForEach; a larger one fails it. Default: 16 MiB. */
  readonly containerOutput?: number;
  /** The whole state of an execution, as `setState` has set it; the step that exceeds it fails. Default: 4 MiB. */
  readonly state?: number;
  /** The result of a workflow; a larger one ends the execution in error. Default: 16 MiB. */
  readonly result?: number;
  /** The journal of one execution; one that grows larger ends it in error. */
  readonly journal?: JournalLimits;
}

export interface JournalLimits {
  /** Default: 100 000. */
  readonly events?: number;
  /** Default: 256 MiB. */
  readonly bytes?: number;
}

export interface SizeLimits {
  readonly input: number;
  readonly context: number;
  readonly resumeData: number;
  readonly reason: number;
  readonly output: number;
  readonly containerOutput: number;
  readonly state: number;
  readonly result: number;
  readonly journal: Required<JournalLimits>;
}

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** The limits with their defaults; an invalid limit is refused. */
export function sizeLimits(given: AndanteLimits): SizeLimits {
  const { journal = {} } = given;
  return {
    input: limitOf("input", given.input, 4 * mebibyte),
    context: limitOf("context", given.context, mebibyte),
    resumeData: limitOf("resumeData", given.resumeData, 4 * mebibyte),
    reason: limitOf("reason", given.reason, 64 * kibibyte),
    output: limitOf("output", given.output, 4 * mebibyte),
    // It holds those of its branches, and a workflow may end with one.
    containerOutput: limitOf("containerOutput", given.containerOutput, 16 * mebibyte),
    state: limitOf("state", given.state, 4 * mebibyte),
    result: limitOf("result", given.result, 16 * mebibyte),
    journal: {
      events: limitOf("journal.events", journal.events, 100_000),
      bytes: limitOf("journal.bytes", journal.bytes, 256 * mebibyte),
    },
  };
}

/** How many executions may run here at once. */
export function runningLimit({ running }: AndanteLimits): number {
  return Math.floor(limitOf("running", running, 1000));
}

/** How many replies of agents may run here at once. */
export function repliesLimit({ agentReplies }: AndanteLimits): number {
  return Math.floor(limitOf("agentReplies", agentReplies, 1000));
}

/** How many messages may wait in a conversation. */
export function queueLimit({ queuedMessages }: AndanteLimits): number {
  return Math.floor(limitOf("queuedMessages", queuedMessages, 100));
}

/** How many schedules one user has at most. */
export function schedulesLimit({ schedulesPerUser }: AndanteLimits): number {
  return Math.floor(limitOf("schedulesPerUser", schedulesPerUser, 1000));
}

/** The part of them that one user may hold while others wait. */
export function userShareOf({ userShare = 0.5 }: AndanteLimits): number {
  if (typeof userShare === "number" && userShare > 0 && userShare <= 1) return userShare;
  throw new OptionError({ option: "limits.userShare", problem: "expected a number above 0 and up to 1" });
}

/** The given limit or its default; an invalid limit is refused. */
export function limitOf(name: string, given: unknown, otherwise: number, least = 1): number {
  if (given === undefined) return otherwise;
  if (typeof given === "number" && given >= least) return given;
  throw new OptionError({ option: `limits.${name}`, problem: `expected a number of ${least} or more` });
}

/** The text as it is, or an error for the caller who sent it. */
export function checkSize<Text extends JsonText>(
  limits: SizeLimits,
  name: "input" | "context" | "resumeData" | "reason",
  text: Text,
  subject: string,
): Text {
  const size = excess(text, limits[name]);
  if (size === undefined) return text;
  throw new TooLargeError({ subject, size, limit: limits[name], option: `limits.${name}` });
}

/** Refuses a value with so many fields or elements that writing it would take long, before it is written. */
export function checkWidth(limits: SizeLimits, name: "context", value: unknown, subject: string): void {
  const limit = limits[name];
  if (isWiderThan(value, limit))
    throw new TooLargeError({ subject, size: `more than ${limit}`, limit, option: `limits.${name}` });
}

/** The text as it is, or an error of the step that made it. */
export function checkOutput<Text extends JsonText>(
  limits: SizeLimits,
  text: Text,
  subject: string,
  name: "output" | "reason" | "resumeData" = "output",
): Text {
  const size = excess(text, limits[name]);
  if (size === undefined) return text;
  throw new OutputLimitError({ subject, size, limit: limits[name], option: `limits.${name}` });
}

/** How a workflow ends: as it did, or in error when its result is too large. */
export function withinResult(limits: SizeLimits, outcome: Outcome): Outcome {
  return within(limits, "result", outcome, "Result of the workflow");
}

/** How a container ends: as it did, or in error when its output is too large. */
export function withinContainer(limits: SizeLimits, outcome: Outcome, path: string): Outcome {
  return within(limits, "containerOutput", outcome, `Output of step ${path}`, path);
}

function within(
  limits: SizeLimits,
  name: "result" | "containerOutput",
  outcome: Outcome,
  subject: string,
  path?: string,
): Outcome {
  if (outcome.kind !== "output") return outcome;
  const limit = limits[name];
  const size = excess(outcome.value, limit);
  if (size === undefined) return outcome;
  const error = new OutputLimitError({ subject, size, limit, option: `limits.${name}` });
  return { kind: "error", error: toFailure(error, path) };
}

/** The size of a text that exceeds a limit. A character is at most three bytes, so short ones are not measured. */
function excess(text: JsonText, limit: number): number | undefined {
  if (text === undefined || text.length * 3 <= limit) return undefined;
  const size = Buffer.byteLength(text);
  return size > limit ? size : undefined;
}

/** The events of a commit. */
interface StoredEvents {
  readonly events: readonly NewStoredEvent[];
  readonly following: readonly NewStoredEvent[];
}

/** Measures the state of an execution. */
export class StateGauge {
  readonly #limit: number;
  /** An upper bound in bytes: the last measured size plus the patches since. Infinite until it is measured. */
  #most = Number.POSITIVE_INFINITY;

  constructor({ state }: SizeLimits) {
    this.#limit = state;
  }

  /** Throws when the state with this patch, JSON text of an object, is too large. */
  check(state: ReadonlyMap<string, unknown>, patch: string, path: string): void {
    this.#most += patch.length * 3;
    if (this.#most <= this.#limit) return;
    // Only now is the whole state written: a body that sets a little at a time does not pay for all of it each time.
    const changes = parseObject(patch, `State set by step ${path}`);
    const size = Buffer.byteLength(JSON.stringify({ ...Object.fromEntries(state), ...changes }));
    if (size > this.#limit) {
      const subject = `State of the execution after step ${path}`;
      throw new OutputLimitError({ subject, size, limit: this.#limit, option: "limits.state" });
    }
    this.#most = size;
  }
}

/** Measures a journal. */
export class JournalGauge {
  readonly #limits: Required<JournalLimits>;
  #bytes: number;
  #events = 0;

  constructor(limits: Required<JournalLimits>, bytes: number) {
    this.#limits = limits;
    this.#bytes = bytes;
  }

  /** Adds recorded events; the last has this number. */
  add(events: readonly NewStoredEvent[], sequence: number): void {
    this.#bytes += storedBytes(events);
    this.#events = sequence;
  }

  /** Adds the text of events that other processes recorded. */
  addText(text: string): void {
    this.#bytes += Buffer.byteLength(text);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How the execution ends once its journal is too large. */
  get outcome(): Outcome | undefined {
    return this.#outcomeAt(this.#events, this.#bytes);
  }

  /** How it ends if these are recorded too. Measured only near the limit: a character is at most three bytes. */
  outcomeWith({ events, following }: StoredEvents): Outcome | undefined {
    const count = this.#events + events.length + following.length;
    let length = 0;
    for (const event of events) length += storedLength(event);
    for (const event of following) length += storedLength(event);
    const isFar = this.#bytes + length * 3 <= this.#limits.bytes;
    return this.#outcomeAt(count, isFar ? 0 : this.#bytes + storedBytes(events) + storedBytes(following));
  }

  #outcomeAt(count: number, size: number): Outcome | undefined {
    const { events, bytes } = this.#limits;
    if (count > events) return overfull("events", count, events);
    return size > bytes ? overfull("bytes", size, bytes) : undefined;
  }
}

function overfull(unit: "events" | "bytes", size: number, limit: number): Outcome {
  const error = new JournalLimitError({ unit, size, limit, option: `limits.journal.${unit}` });
  return { kind: "error", error: toFailure(error) };
}
