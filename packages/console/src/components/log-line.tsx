// One log line: time, level, message with the cause of an error, and the other fields on demand.
import type { LogRecord } from "@andante/client";
import { type ReactNode, useState } from "react";
import { preciseClock } from "../format/numbers.ts";
import { JsonView } from "./json-view.tsx";

/** Characters. */
const longestCause = 200;

export function LogLine({
  line,
  aside,
}: {
  readonly line: LogRecord;
  /** Content at the end of the line. */
  readonly aside?: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const { timestamp, level, msg, ...rest } = line;
  const cause = causeOf(rest.err);
  return (
    <div className="log-line" data-level={level}>
      <time className="mono faint" dateTime={timestamp}>
        {preciseClock(timestamp)}
      </time>
      <span className="level">{level}</span>
      <div className="log-text">
        <button type="button" className="text-button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {msg}
        </button>
        {cause !== undefined && (
          <span className="faint" dir="auto">
            {" · "}
            {cause}
          </span>
        )}
        {open && <JsonView label="fields" value={rest} />}
      </div>
      {aside !== undefined && <span className="faint cut">{aside}</span>}
    </div>
  );
}

/** The beginning of the message of an error. */
function causeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("message" in error)) return undefined;
  const { message } = error;
  return typeof message === "string" ? message.split("\n", 1)[0]?.slice(0, longestCause) : undefined;
}

export function LogLines({ lines }: { readonly lines: readonly LogRecord[] }) {
  return lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be equal
    <LogLine key={`${line.timestamp} ${index}`} line={line} />
  ));
}
