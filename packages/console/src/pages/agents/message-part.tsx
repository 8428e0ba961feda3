// One part of a reply: text, or a tool card with its input, its output and the approval buttons.
import { getToolName, isToolUIPart, type UIMessage } from "ai";
import { inlineJson } from "../../components/inline-json.ts";
import { JsonView } from "../../components/json-view.tsx";
import Markdown from "../../components/markdown/markdown.tsx";
import { Status } from "../../components/status.tsx";
import { duration } from "../../format/numbers.ts";

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
  causes,
  onDecide,
}: {
  readonly part: Part;
  /** Durations of tool calls in milliseconds, by call id. */
  readonly tools: ReadonlyMap<string, number>;
  /** The errors of tools, by call id; only for users who may read the log. */
  readonly causes: ReadonlyMap<string, string>;
  readonly onDecide: (approvalId: string, approved: boolean) => void;
}) {
  if (part.type === "text") return <Markdown text={part.text} />;
  if (part.type === "reasoning" && part.text !== "")
    return (
      <details className="faint">
        <summary>Reasoning</summary>
        <Markdown text={part.text} />
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
        {part.state === "output-available" && <Output value={part.output} />}
        {part.state === "output-error" && (
          <pre className="failure">{causes.get(part.toolCallId) ?? part.errorText}</pre>
        )}
        {asks && part.approval && <Decision onDecide={(approved) => onDecide(part.approval.id, approved)} />}
      </div>
    </section>
  );
}

/** Maximum characters of JSON that are shown without folding. */
const most = 2000;

/** The input of a tool; `whole` for an approval, where the user must be able to read all of it. */
function Input({ value, whole }: { readonly value: unknown; readonly whole: boolean }) {
  if (whole && isLong(value)) return <JsonView label="input" value={value} />;
  return <pre className="muted">{inlineJson(value, most)}</pre>;
}

/** A long result is folded and can be opened. */
function Output({ value }: { readonly value: unknown }) {
  if (isLong(value)) return <JsonView label="output" value={value} />;
  return <pre>→ {inlineJson(value, most)}</pre>;
}

function isLong(value: unknown): boolean {
  return (JSON.stringify(value)?.length ?? 0) > most;
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
