// A status as a pill, and as a dot with a label for screen readers.
import { stepStatusLabel, toneOf } from "../format/status.ts";

export function Status({ status, word = status }: { readonly status: string; readonly word?: string }) {
  return (
    <span className="pill" data-tone={toneOf(status)}>
      {word}
    </span>
  );
}

export function Dot({ status, agent = false }: { readonly status: string; readonly agent?: boolean }) {
  return (
    <>
      <i
        className="dot"
        data-tone={agent && status !== "error" ? "agent" : toneOf(status)}
        title={stepStatusLabel(status)}
      />
      <span className="hidden-label">{stepStatusLabel(status)}</span>
    </>
  );
}
