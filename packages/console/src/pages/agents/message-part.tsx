// One part of a reply: text, or a tool card with its input, its output and the decision about its approval.
import type { JsonSchema } from "@andante/client";
import { getToolName, isToolUIPart, type UIMessage } from "ai";
import { useState } from "react";
import { inlineJson } from "../../components/inline-json.ts";
import { JsonView } from "../../components/json-view.tsx";
import Markdown from "../../components/markdown/markdown.tsx";
import { Status } from "../../components/status.tsx";
import { isObject } from "../../form/as-schema.ts";
import { LazyForm } from "../../form/lazy-form.tsx";
import { duration, exactTime } from "../../format/numbers.ts";

type Part = UIMessage["parts"][number];

/** A decision about a tool call; `input` is there when it was edited. */
export interface CallDecision {
  readonly approved: boolean;
  readonly reason?: string;
  readonly input?: unknown;
}

/** The props of decisions about the calls of a chat. */
export interface DecisionProps {
  readonly onDecide: (approvalId: string, decision: CallDecision) => Promise<unknown>;
  /** The schema of a tool's input. */
  readonly schemaOf: (toolName: string) => JsonSchema | undefined;
}

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
  schemaOf,
}: DecisionProps & {
  readonly part: Part;
  /** Durations of tool calls in milliseconds, by call id. */
  readonly tools: ReadonlyMap<string, number>;
  /** The errors of tools, by call id; only for users who may read the log. */
  readonly causes: ReadonlyMap<string, string>;
}) {
  if (part.type === "text") return <Markdown text={part.text} />;
  if (part.type === "reasoning" && part.text !== "")
    return (
      <details className="faint">
        <summary>Reasoning</summary>
        <Markdown text={part.text} />
      </details>
    );
  if (part.type === "steering-message")
    return (
      <div className="message user">
        <div className="said" dir="auto">
          {part.parts.map((each) => ("text" in each ? each.text : "")).join("")}
        </div>
      </div>
    );
  if (part.type === "data-waiting") return <Waiting data={part.data} />;
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
        {!asks && part.approval?.approved !== undefined && <Decided approval={part.approval} />}
        {asks && (
          <Decision
            schema={schemaOf(getToolName(part))}
            input={part.input}
            onDecide={(decision) => onDecide(part.approval.id, decision)}
          />
        )}
      </div>
    </section>
  );
}

/** A tool of the reply waits in its own code. */
function Waiting({ data }: { readonly data: unknown }) {
  const { reason, until } = isObject(data) ? data : {};
  return (
    <p className="faint">
      {typeof reason === "string" ? reason : "A tool waits"}
      {typeof until === "string" && `, until ${exactTime(until)}`}
    </p>
  );
}

type Approval = NonNullable<Extract<Part, { toolCallId: string }>["approval"]>;

/** Who decided about a call, and after how long, as the server has recorded it. */
interface DecisionRecord {
  readonly by: string | null;
  readonly at: string;
  readonly waitedMs: number | undefined;
  readonly edited: boolean;
  /** No person has decided before the deadline. */
  readonly byDeadline: boolean;
}

/** Undefined where it is not recorded. */
export function decisionOf(approval: Approval): DecisionRecord | undefined {
  const decision = "decision" in approval ? approval.decision : undefined;
  if (!isObject(decision)) return undefined;
  const { by, at, waitedMs, edited, byDeadline } = decision;
  return {
    by: typeof by === "string" ? by : null,
    at: String(at),
    waitedMs: typeof waitedMs === "number" ? waitedMs : undefined,
    edited: edited === true,
    byDeadline: byDeadline === true,
  };
}

/** The decision about a call: what, by whom, after how long, and why. */
function Decided({ approval }: { readonly approval: Approval }) {
  const { approved, reason, isAutomatic } = approval;
  const { by = null, at, waitedMs, edited, byDeadline } = decisionOf(approval) ?? {};
  const words = [
    approved ? "Allowed" : "Denied",
    edited && "with an edited input",
    isAutomatic ? "by a rule" : byDeadline ? "by the deadline" : by !== null && `by ${by}`,
    waitedMs !== undefined && `after ${duration(waitedMs)}`,
  ];
  return (
    <p className="decided faint" title={at && exactTime(at)} dir="auto">
      {words.filter(Boolean).join(" ")}
      {reason !== undefined && reason !== "" && `: ${reason}`}
    </p>
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

/** Allows or denies a call, with a reason; the input can be edited before it is allowed. */
function Decision({
  schema,
  input,
  onDecide,
}: {
  readonly schema: JsonSchema | undefined;
  readonly input: unknown;
  readonly onDecide: (decision: CallDecision) => Promise<unknown>;
}) {
  const [reason, setReason] = useState("");
  const [edits, setEdits] = useState(false);
  const given = reason.trim() === "" ? {} : { reason: reason.trim() };
  const decide = (approved: boolean) => void onDecide({ approved, ...given });
  return (
    <div className="decision">
      {edits && (
        <LazyForm
          schema={schema}
          initial={input}
          submit="Allow with this input"
          onSubmit={(edited) => onDecide({ approved: true, ...given, input: edited })}
        />
      )}
      <input
        className="field"
        aria-label="Reason"
        placeholder="Reason (optional)"
        maxLength={10_000}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      <div className="row">
        {!edits && (
          <button type="button" className="btn primary" onClick={() => decide(true)}>
            Allow
          </button>
        )}
        <button type="button" className="btn" onClick={() => decide(false)}>
          Deny
        </button>
        <button type="button" className="btn" aria-pressed={edits} onClick={() => setEdits(!edits)}>
          {edits ? "Keep the input" : "Edit the input…"}
        </button>
        <span className="faint">Nothing runs until you decide.</span>
      </div>
    </div>
  );
}
