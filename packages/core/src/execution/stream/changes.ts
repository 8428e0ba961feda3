// The changes of all executions of this process, for pages that show all of them at once.
//
// It costs nothing without followers: the engine asks `followed` first.
import { endStatus, isEnd, type JournalEvent } from "../../journal/events.ts";
import type { ExecutionHead, ExecutionRow, ExecutionStatus } from "../../store/store.ts";
import { TurnoverMap } from "../../values/turnover-map.ts";

/** The changes of one commit. */
export interface ExecutionChange {
  readonly executionId: string;
  readonly workflowId: string;
  readonly userId: string | null;
  readonly conversationId: string | null;
  /** The status that it has now; undefined where the commit did not change it. */
  readonly status: ExecutionStatus | undefined;
  /** The step that it is about, as far as it is about one. */
  readonly stepPath: string | undefined;
  /** The number of the last event. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
}

export interface ChangeFollower {
  /** Called from within a commit's publication: it must neither throw nor take long. */
  receive(change: ExecutionChange): void;
  /** The process stops: nothing more will come. */
  stop(): void;
}

type Subject = Pick<ExecutionRow, "executionId" | "workflowId" | "userId" | "conversationId">;

/** Executions whose last change is known. */
const maxKnown = 10_000;

export class Changes {
  readonly #followers = new Set<ChangeFollower>();
  /** The last change of each execution: its head is read again and again, and sometimes is older than a commit here. */
  readonly #last = new TurnoverMap<string, Pick<ExecutionChange, "sequence" | "status">>();

  /** True while there is a follower. */
  get followed(): boolean {
    return this.#followers.size > 0;
  }

  /** Passes later commits to `follower`, until the returned function is called. */
  follow(follower: ChangeFollower): () => void {
    this.#followers.add(follower);
    return () => {
      this.#followers.delete(follower);
      if (!this.followed) this.#last.clear();
    };
  }

  publish(
    { executionId, workflowId, userId, conversationId }: Subject,
    events: readonly JournalEvent[],
  ): void {
    const last = events.at(-1);
    if (last === undefined) return;
    const { sequence, timestamp } = last;
    const ids = { executionId, workflowId, userId, conversationId };
    this.#send({ ...ids, status: statusAfter(events), stepPath: pathIn(events), sequence, timestamp });
  }

  /** Reports that calls of a chat wait for a person, or do not any more: the inbox has changed. */
  report(change: ExecutionChange): void {
    if (this.followed) this.#send(change);
  }

  /** Reports how far an execution of another process has come, unless that is known. */
  publishHead(head: ExecutionHead, timestamp: number): void {
    const { executionId, workflowId, userId, conversationId, status, sequence } = head;
    if (this.#isKnown(head)) return;
    const ids = { executionId, workflowId, userId, conversationId };
    this.#send({ ...ids, status, stepPath: undefined, sequence, timestamp });
  }

  /**
   * A head may be older than a commit here. A store that has lost commits counts from a smaller number: an end is reported
   * all the same, and another status at the same number.
   */
  #isKnown({ executionId, status, sequence }: ExecutionHead): boolean {
    const last = this.#last.get(executionId);
    if (last === undefined || sequence > last.sequence) return false;
    if (status === last.status) return true;
    return sequence < last.sequence && (status === "running" || status === "suspended");
  }

  #send(change: ExecutionChange): void {
    const { executionId, sequence, status = this.#last.get(executionId)?.status } = change;
    this.#last.delete(executionId);
    this.#last.set(executionId, { sequence, status });
    const oldest = this.#last.size > maxKnown ? this.#last.oldest() : undefined;
    if (oldest !== undefined) this.#last.delete(oldest);
    for (const follower of this.#followers) follower.receive(change);
  }

  stop(): void {
    for (const follower of this.#followers) follower.stop();
    this.#followers.clear();
  }
}

function statusAfter(events: readonly JournalEvent[]): ExecutionStatus | undefined {
  let status: ExecutionStatus | undefined;
  for (const event of events) {
    if (isEnd(event)) status = endStatus[event.type];
    else if (event.type === "workflow-suspended") status = "suspended";
    else if (
      event.type === "workflow-start" ||
      event.type === "workflow-resumed" ||
      event.type === "execution-rewound"
    )
      status = "running";
  }
  return status;
}

function pathIn(events: readonly JournalEvent[]): string | undefined {
  for (const event of events.toReversed()) if ("path" in event && event.path !== null) return event.path;
  return undefined;
}
