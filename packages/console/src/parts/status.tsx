// A status as a pill, and as a dot whose word is only spoken.
import { toneOf } from "../words/status.ts";
import { stepStatusWord } from "../words/step-words.ts";

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
        title={stepStatusWord(status)}
      />
      <span className="hidden-label">{stepStatusWord(status)}</span>
    </>
  );
}
