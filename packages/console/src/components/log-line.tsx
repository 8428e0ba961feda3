// One log line: time, level, message, and the other fields on demand.
import type { LogRecord } from "@andante/client";
import { type ReactNode, useState } from "react";
import { preciseClock } from "../format/numbers.ts";
import { JsonView } from "./json-view.tsx";

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
  return (
    <div className="log-line" data-level={level}>
      <time className="mono faint" dateTime={timestamp}>
        {preciseClock(timestamp)}
      </time>
      <span className="level">{level}</span>
      <div className="message">
        <button type="button" className="text-button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {msg}
        </button>
        {open && <JsonView label="fields" value={rest} />}
      </div>
      {aside !== undefined && <span className="faint cut">{aside}</span>}
    </div>
  );
}

export function LogLines({ lines }: { readonly lines: readonly LogRecord[] }) {
  return lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be equal
    <LogLine key={`${line.timestamp} ${index}`} line={line} />
  ));
}
