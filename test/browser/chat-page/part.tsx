// One part of a message: words, the reason of a wait, or a tool with its input, its output and the question whether it may run.
import { getToolName, isToolUIPart, type UIMessage } from "ai";

/** The parts of an agent whose tools may wait in their own code. */
export type ChatMessage = UIMessage<unknown, { waiting: { readonly reason: string } }>;

interface PartProps {
  readonly part: ChatMessage["parts"][number];
  readonly answer: (approved: boolean) => void;
}

export function Part({ part, answer }: PartProps) {
  if (part.type === "text") return <span className="text">{part.text}</span>;
  if (part.type === "steering-message")
    return <span className="steering">{part.parts.map((each) => ("text" in each ? each.text : ""))}</span>;
  if (part.type === "data-waiting") return <p className="waiting">{part.data.reason}</p>;
  if (!isToolUIPart(part)) return null;
  return (
    <section className="tool">
      <b>{getToolName(part)}</b> <i>{part.state}</i>
      <code className="input">{JSON.stringify(part.input)}</code>
      {part.state === "output-available" && <code className="output">{JSON.stringify(part.output)}</code>}
      {part.state === "approval-requested" && (
        <>
          <button type="button" onClick={() => answer(true)}>
            Approve
          </button>
          <button type="button" onClick={() => answer(false)}>
            Deny
          </button>
        </>
      )}
    </section>
  );
}
