// The calls of the model in the newest reply: tokens, durations, and the prompt where content is recorded.
import { useState } from "react";
import { JsonView } from "../../components/json-view.tsx";
import { count, duration } from "../../format/numbers.ts";
import type { ModelCall } from "./reply-facts.ts";

export function ModelCalls({ calls }: { readonly calls: readonly ModelCall[] }) {
  return (
    <ol className="model-calls">
      {calls.map((call) => (
        <li key={call.spanId} className="tool-item">
          <span className="row num">
            <span className="mono grow cut">{call.model}</span>
            {call.duration !== null && duration(call.duration)}
          </span>
          <small className="num">
            {count(call.inputTokens)} tokens in, {count(call.outputTokens)} out
          </small>
          {call.content.map(([name, value]) => (
            <Content key={name} name={name} value={value} />
          ))}
        </li>
      ))}
    </ol>
  );
}

/** Rendered when it is opened: a prompt may be long. */
function Content({ name, value }: { readonly name: string; readonly value: unknown }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="faint">{name}</summary>
      {open && <JsonView label={name} value={value} />}
    </details>
  );
}
