// A logger that keeps whole lines: level, fields and message.
import type { Logger } from "../../src/observe/log/logger.ts";

export interface RecordedLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly msg: string;
  readonly [field: string]: unknown;
}

export class LineRecorder implements Logger {
  readonly lines: RecordedLine[] = [];

  debug(fields: object, msg: string): void {
    this.lines.push({ ...fields, level: "debug", msg });
  }
  info(fields: object, msg: string): void {
    this.lines.push({ ...fields, level: "info", msg });
  }
  warn(fields: object, msg: string): void {
    this.lines.push({ ...fields, level: "warn", msg });
  }
  error(fields: object, msg: string): void {
    this.lines.push({ ...fields, level: "error", msg });
  }
  // Andante hands every field to the line itself.
  child(): Logger {
    return this;
  }

  of(...levels: readonly RecordedLine["level"][]): readonly RecordedLine[] {
    return this.lines.filter(({ level }) => levels.includes(level));
  }
}
