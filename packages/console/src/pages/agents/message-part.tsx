// One part of a reply: words, or a tool as a card with its input, its output and the question whether it may run.
import { getToolName, isToolUIPart, type UIMessage } from "ai";
import { inlineJson } from "../../parts/inline-json.ts";
import { JsonView } from "../../parts/json-view.tsx";
import { Status } from "../../parts/status.tsx";
import { duration } from "../../words/numbers.ts";

type Part = UIMessage["parts"][number];

const words: Readonly<Record<string, readonly [status: string, word: string]>> = {
  "input-streaming": ["running", "preparing"],
  "input-available": ["running", "running"],
  "approval-requested": ["waiting", "needs approval"],
  "approval-responded": ["running", "decided"],
  "output-available": ["done", "done"],
  "output-error": ["failed", "failed"],
  "output-denied": ["cancelled", "denied"],
};

export function MessagePart({
  part,
  tools,
  onDecide,
}: {
  readonly part: Part;
  /** Milliseconds that tool calls took, by their id. */
  readonly tools: ReadonlyMap<string, number>;
  readonly onDecide: (approvalId: string, approved: boolean) => void;
}) {
  if (part.type === "text") return <div className="words">{part.text}</div>;
  if (part.type === "reasoning" && part.text !== "")
    return (
      <details className="faint">
        <summary>Reasoning</summary>
        <div className="words">{part.text}</div>
      </details>
    );
  if (!isToolUIPart(part)) return null;
  const [status, word] = words[part.state] ?? ["off", part.state];
  const asks = part.state === "approval-requested";
  const took = tools.get(part.toolCallId);
  return (
    <section className={asks ? "tool-card asks" : "tool-card"} aria-label={`Tool ${getToolName(part)}`}>
      <header>
        <Status status={status} word={word} />
        <span className="mono">{getToolName(part)}</span>
        {took !== undefined && !asks && <span className="took faint num">{duration(took)}</span>}
      </header>
      <div>
        <Input value={part.input} whole={asks} />
        {part.state === "output-available" && <pre>→ {inlineJson(part.output, 4000)}</pre>}
        {part.state === "output-error" && <pre className="failure">{part.errorText}</pre>}
        {asks && part.approval && <Decision onDecide={(approved) => onDecide(part.approval.id, approved)} />}
      </div>
    </section>
  );
}

/** Who decides must be able to read all of it. */
function Input({ value, whole }: { readonly value: unknown; readonly whole: boolean }) {
  const most = 2000;
  if (whole && (JSON.stringify(value)?.length ?? 0) > most) return <JsonView label="input" value={value} />;
  return <pre className="muted">{inlineJson(value, most)}</pre>;
}

function Decision({ onDecide }: { readonly onDecide: (approved: boolean) => void }) {
  return (
    <div className="row" style={{ marginTop: 8 }}>
      <button type="button" className="btn primary" onClick={() => onDecide(true)}>
        Allow
      </button>
      <button type="button" className="btn" onClick={() => onDecide(false)}>
        Deny
      </button>
      <span className="faint">Nothing runs until you decide.</span>
    </div>
  );
}
