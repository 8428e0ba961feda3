// A logger that makes pino's with the first line that it writes: loading pino takes 33 ms of processor
// time of a start of 360 ms, and many loggers write nothing.
import { type LogLevel, rankOf } from "./log-level.ts";
import type { Logger } from "./logger.ts";
import { redactFields } from "./redact.ts";

type Line = Parameters<Logger["info"]>;

/**
 * `fields`: the fields of each of its lines; undefined for the root logger. Not a class: hosts put a proxy
 * around a logger, spread it or pass on one of its methods, as they may with pino's.
 */
export function lateLogger(
  level: LogLevel | "silent",
  root: () => Logger,
  fields?: Readonly<Record<string, unknown>>,
): Logger {
  let made: Logger | undefined;
  const make = () => {
    made ??= fields === undefined ? root() : root().child({ ...fields });
    return made;
  };
  const isLevelEnabled = (asked: LogLevel) => rankOf(asked) >= rankOf(level);
  // All arguments are passed on: pino takes a message alone, too.
  const writes =
    (asked: LogLevel) =>
    (...line: Line): void => {
      if (isLevelEnabled(asked)) make()[asked](...line);
    };
  return {
    debug: writes("debug"),
    info: writes("info"),
    warn: writes("warn"),
    error: writes("error"),
    // Put together now: a body may make children of children without end.
    child: (more) =>
      lateLogger(level, fields === undefined ? make : root, { ...fields, ...redactFields(more) }),
    isLevelEnabled,
  };
}
