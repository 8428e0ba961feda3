// A status as a pill, and as a bare dot where the word stands beside it.
import { toneOf } from "../words/status.ts";

export function Status({ status, word = status }: { readonly status: string; readonly word?: string }) {
  return (
    <span className="pill" data-tone={toneOf(status)}>
      {word}
    </span>
  );
}

export function Dot({ status, agent = false }: { readonly status: string; readonly agent?: boolean }) {
  return <i className="dot" data-tone={agent ? "agent" : toneOf(status)} />;
}
