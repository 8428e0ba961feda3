// Filters of log lines, as lists and sockets accept them.
import { InvalidOptionError } from "../../errors/index.ts";
import { checkLimit } from "../../store/cursor.ts";
import type { LogQuery } from "../../store/observation-store.ts";
import type { LogLine } from "./log-feed.ts";
import { type LogLevel, logLevels, rankOf } from "./log-level.ts";

/** `userId`: lines about this user's executions and calls. */
export interface LogFilter
  extends Pick<LogQuery, "workflowId" | "executionId" | "agentId" | "conversationId" | "userId"> {
  /** The lowest level. Default: all that are kept. */
  readonly level?: LogLevel | undefined;
  /** At this time or later. */
  readonly since?: Date | undefined;
  /** At this time or earlier. */
  readonly until?: Date | undefined;
  /** How many of the newest lines. Default: 100; at most 1000. */
  readonly limit?: number | undefined;
}

/** Refuses a value that is not a filter. */
export function checkLogFilter(filter: LogFilter): void {
  const { level, limit = 1 } = filter;
  if (level !== undefined && !logLevels.includes(level)) {
    throw new InvalidOptionError({ option: "level", problem: `expected one of ${logLevels.join(", ")}` });
  }
  checkLimit(limit, 1000);
}

/** True when the line passes the filter. */
export function matchesLog(filter: LogFilter, line: LogLine): boolean {
  const { level, workflowId, executionId, agentId, conversationId, userId, since, until } = filter;
  return (
    (level === undefined || line.level >= rankOf(level)) &&
    (workflowId === undefined || line.workflowId === workflowId) &&
    (executionId === undefined || line.executionId === executionId) &&
    (agentId === undefined || line.agentId === agentId) &&
    (conversationId === undefined || line.conversationId === conversationId) &&
    (userId === undefined || line.userId === userId) &&
    (since === undefined || line.timestamp >= since.getTime()) &&
    (until === undefined || line.timestamp <= until.getTime())
  );
}
