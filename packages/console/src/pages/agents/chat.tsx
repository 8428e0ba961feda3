// A chat with an agent: streams replies, shows tools as cards, asks for approvals, and resumes after a reload.
import { useChat } from "@ai-sdk/react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from "ai";
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { address, andante, headers, part } from "../../api/andante.ts";
import { agentQuery, causesQuery, playgroundQuery } from "../../api/queries.ts";
import { Problem } from "../../components/problem.tsx";
import { isObject } from "../../form/as-schema.ts";
import { causesIn } from "./failure-causes.ts";
import { type KeptMessages, loadMessages } from "./kept-messages.ts";
import { EditMessage, MessageActions } from "./message-actions.tsx";
import { type CallDecision, type DecisionProps, decisionOf, MessagePart } from "./message-part.tsx";
import { PlaygroundPanel, usePlayground } from "./playground.tsx";
import { QueuedMessages } from "./queued-messages.tsx";
import { SummaryDivider, summarizedBy } from "./summary-divider.tsx";
import { useDecidedElsewhere } from "./use-decided-elsewhere.ts";
import { useFollow } from "./use-follow.ts";
import { useOlder } from "./use-older.ts";

interface ChatProps {
  readonly agentId: string;
  readonly name: string;
  readonly conversationId: string;
  /** Reads its newest messages. */
  readonly load: (conversationId: string) => Promise<KeptMessages>;
  /** Durations of tool calls in milliseconds, by call id. */
  readonly tools: ReadonlyMap<string, number>;
}

export default function Chat(props: ChatProps) {
  const { data, error } = useQuery({
    queryKey: ["messages", props.conversationId],
    queryFn: () => props.load(props.conversationId),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (error !== null) return <Problem error={error} what="The conversation cannot be read" />;
  return data === undefined ? <div /> : <OpenChat {...props} kept={data} />;
}

function OpenChat({
  agentId,
  name,
  conversationId,
  tools,
  kept,
}: Omit<ChatProps, "load"> & { readonly kept: KeptMessages }) {
  const client = useQueryClient();
  const { data: choices } = useQuery(playgroundQuery(agentId));
  const { settings, change } = usePlayground(conversationId);
  const playground = useRef(settings);
  useEffect(() => {
    playground.current = choices && settings;
  }, [choices, settings]);
  const transport = useMemo(
    () =>
      new DefaultChatTransport({
        api: address(`/agents/${part(agentId)}/chat`),
        headers,
        prepareSendMessagesRequest: ({ api, id, messages, trigger, messageId, ...request }) => {
          const settings = playground.current;
          const sent = { ...request.body, id, messages, trigger, messageId };
          if (settings === undefined) return { api, headers: headers(), body: sent };
          const changed = address(`/api/agents/${part(agentId)}/playground`);
          return { api: changed, headers: headers(), body: { ...sent, playground: settings } };
        },
      }),
    [agentId],
  );
  const { messages, setMessages, sendMessage, regenerate, addToolApprovalResponse, resumeStream, ...chat } =
    useChat({
      id: conversationId,
      messages: kept.messages,
      transport,
      resume: true,
      // A reply may arrive in thousands of pieces a second, more than a reader needs to see.
      throttle: 50,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onFinish: () => void client.invalidateQueries({ queryKey: ["conversations", agentId] }),
    });
  const { status, error } = chat;
  const isBusy = status === "submitted" || status === "streaming";
  const [stopError, setStopError] = useState<unknown>();
  const [stopped, setStopped] = useState<string>();
  const failedTools = messages.flatMap(({ parts }) => parts.filter(isFailedTool)).length;
  const failures = `${failedTools} ${error?.message ?? ""}`;
  const { data: causes } = useQuery({
    ...causesQuery(conversationId, failures),
    enabled: failures !== "0 " && !isBusy,
    select: causesIn,
  });
  const again = () => void regenerate();
  const stop = () => {
    setStopError(undefined);
    setStopped(messages.at(-1)?.id);
    andante.agent(agentId).stop(conversationId).catch(setStopError);
  };
  const [decideError, setDecideError] = useState<unknown>();
  /** Shows the messages as they are kept, and the reply that runs. */
  const follow = async () => {
    const { messages: fresh } = await loadMessages(conversationId);
    setMessages((shown) => withKept(shown, fresh));
    await resumeStream();
    // A reply that ended between the two requests has no stream.
    const { messages: ended } = await loadMessages(conversationId);
    setMessages((shown) => (shown.at(-1)?.parts.some(isDecided) ? withKept(shown, ended) : shown));
    void client.invalidateQueries({ queryKey: ["conversations", agentId] });
  };
  const last = messages.at(-1);
  const decide = async (approvalId: string, { input, ...decision }: CallDecision) => {
    setDecideError(undefined);
    // The chat's own way takes only the decision, about a call of the last message as it is kept.
    const isInLast = last?.parts.some((each) => isToolUIPart(each) && each.approval?.id === approvalId);
    if (input === undefined && isInLast) return addToolApprovalResponse({ id: approvalId, ...decision });
    const kept = andante.conversation(conversationId).decide({ approvalId, ...decision, input });
    // The form of an edited input shows its own errors.
    if (input !== undefined) await kept;
    return kept.then(isInLast ? follow : showWhenComplete).catch(setDecideError);
  };
  /** Without a stream, which would become the last message: others follow this one. */
  const showWhenComplete = async () => {
    for await (const _ of (await andante.agent(agentId).attach(conversationId)) ?? []);
    const { messages: fresh } = await loadMessages(conversationId);
    setMessages((shown) => withKept(shown, fresh));
  };
  useDecidedElsewhere(conversationId, isBusy ? undefined : last, () => follow().catch(setDecideError));
  const { data: agent } = useQuery(agentQuery(agentId));
  const schemaOf = (name: string) => agent?.tools.find((each) => each.name === name)?.inputSchema;
  // The server records who decided, and when: the chat itself knows only the decision.
  const lacksRecord = !isBusy && last?.parts.some(isWithoutRecord);
  useEffect(() => {
    if (!lacksRecord) return;
    let isShown = true;
    loadMessages(conversationId).then(
      ({ messages: fresh }) => isShown && setMessages((shown) => withKept(shown, fresh)),
      // The decision itself is shown.
      () => undefined,
    );
    return () => {
      isShown = false;
    };
  }, [lacksRecord, conversationId, setMessages]);
  const box = useRef<HTMLElement>(null);
  const onScroll = useFollow(box, last, status === "submitted");
  const prepend = (before: UIMessage[]) => setMessages((shown) => [...before, ...shown]);
  const older = useOlder(conversationId, kept.older, messages[0], prepend, box);
  return (
    <div className="chat">
      <section
        ref={box}
        className="messages"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        tabIndex={0}
        aria-label="Messages"
        onScroll={onScroll}
      >
        <div>
          <Problem error={older.error} what="Older messages cannot be read" />
          {older.load && (
            <p className="older">
              <button type="button" className="btn" onClick={older.load}>
                Show older messages
              </button>
            </p>
          )}
          {messages.length === 0 && (
            <p className="muted">Say something; the reply streams in as it is made.</p>
          )}
          {messages.map((message, index) => (
            <Message
              key={message.id}
              message={message}
              before={messages[index - 1]?.id}
              agentId={agentId}
              conversationId={conversationId}
              name={name}
              tools={tools}
              causes={causes?.tools ?? noCauses}
              streams={isBusy && message === last}
              isStopped={message.id === stopped || (isEmpty(message) && error === undefined)}
              onRegenerate={isBusy || message !== last ? undefined : again}
              onDecide={decide}
              schemaOf={schemaOf}
            />
          ))}
          {error && (
            <FailedReply
              error={error}
              cause={causes?.reply}
              conversationId={conversationId}
              onAgain={messages.length === 0 ? undefined : again}
            />
          )}
          <Problem error={decideError} what="The call is not decided, or its reply cannot be shown" />
          {isBusy && stopError !== undefined && <Problem error={stopError} what="The reply is not stopped" />}
        </div>
      </section>
      <QueuedMessages
        {...{ agentId, conversationId }}
        onWithdrawn={(messageId) => setMessages((shown) => shown.filter(({ id }) => id !== messageId))}
      />
      <FinishedReply name={name} message={last} busy={isBusy} />
      <Composer name={name} busy={isBusy} onSend={(text) => void sendMessage({ text })} onStop={stop}>
        {choices && <PlaygroundPanel choices={choices} settings={settings} onChange={change} />}
      </Composer>
    </div>
  );
}

/** Announces a finished reply to screen readers: piece by piece it would interrupt itself. Not for loaded messages. */
function FinishedReply({
  name,
  message,
  busy,
}: {
  readonly name: string;
  readonly message: UIMessage | undefined;
  readonly busy: boolean;
}) {
  const [wasBusy, setWasBusy] = useState(false);
  if (busy && !wasBusy) setWasBusy(true);
  const isReply = wasBusy && !busy && message?.role === "assistant";
  return (
    <div className="hidden-label" aria-live="polite">
      {isReply && `${name}: ${textOf(message)}`}
    </div>
  );
}

function textOf({ parts }: UIMessage): string {
  return parts.map((each) => (each.type === "text" ? each.text : "")).join("");
}

/** The message of an error: a refused request has the server's envelope as its message, a failed reply plain text. */
function wordsOf({ message }: Error): string {
  try {
    return JSON.parse(message).error;
  } catch {
    return message;
  }
}

/** Whether a message has nothing to show. */
function isEmpty({ parts }: UIMessage): boolean {
  return !parts.some((each) => isToolUIPart(each) || "text" in each || "url" in each);
}

const noCauses: ReadonlyMap<string, string> = new Map();
const isFailedTool = (part: UIMessage["parts"][number]) =>
  isToolUIPart(part) && part.state === "output-error";

/** A reply that failed: the words for every caller, the cause for those who may read the log, and another attempt. */
function FailedReply({
  error,
  cause,
  conversationId,
  onAgain,
}: {
  readonly error: Error;
  readonly cause: string | undefined;
  readonly conversationId: string;
  readonly onAgain: (() => void) | undefined;
}) {
  return (
    <div className="failed-reply">
      <Problem error={new Error(wordsOf(error))} what="The reply was interrupted" />
      {cause !== undefined && <pre className="failure">{cause}</pre>}
      <div className="row">
        {onAgain && (
          <button type="button" className="btn" onClick={onAgain}>
            Try again
          </button>
        )}
        <Link className="link" to="/logs" search={{ level: "warn", text: conversationId }}>
          Its log lines →
        </Link>
      </div>
    </div>
  );
}

function Message({
  message,
  before,
  agentId,
  conversationId,
  name,
  tools,
  causes,
  streams,
  isStopped,
  onRegenerate,
  ...decisions
}: DecisionProps & {
  readonly message: UIMessage;
  /** The id of the message before it. */
  readonly before: string | undefined;
  readonly agentId: string;
  readonly conversationId: string;
  readonly name: string;
  readonly tools: ReadonlyMap<string, number>;
  /** The errors of tools, by call id. */
  readonly causes: ReadonlyMap<string, string>;
  readonly streams: boolean;
  /** It ended before it was complete. */
  readonly isStopped: boolean;
  readonly onRegenerate: (() => void) | undefined;
}) {
  const [editing, setEditing] = useState(false);
  const text = textOf(message);
  const place = { agentId, conversationId };
  const summarized = summarizedBy(message);
  if (summarized !== undefined)
    return (
      <SummaryDivider {...{ conversationId, messages: summarized }} messageId={message.id} text={text} />
    );
  if (message.role === "user") {
    if (editing)
      return <EditMessage {...place} before={before} text={text} onClose={() => setEditing(false)} />;
    return (
      <div className="message user">
        <MessageActions {...place} messageId={message.id} text={text} onEdit={() => setEditing(true)} />
        <div className="said" dir="auto">
          {text}
        </div>
      </div>
    );
  }
  const isPartial = isStopped || (isObject(message.metadata) && message.metadata.partial === true);
  const isAsking = message.parts.some((each) => isToolUIPart(each) && each.state === "approval-requested");
  return (
    <div className={streams ? "message streams" : "message"}>
      <div className="who">{name}</div>
      {message.parts.map((each, index) => (
        <MessagePart
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message have no ids and never move
          key={index}
          part={each}
          tools={tools}
          causes={causes}
          {...decisions}
        />
      ))}
      {isPartial && !streams && (
        <p className="faint">
          {text === "" ? "Stopped before the first word." : "Stopped here: the reply is not complete."}
        </p>
      )}
      {!streams && (
        <MessageActions
          {...place}
          messageId={message.id}
          text={text}
          onRegenerate={isAsking ? undefined : onRegenerate}
        />
      )}
    </div>
  );
}

function Composer({
  name,
  busy,
  onSend,
  onStop,
  children,
}: {
  readonly name: string;
  readonly busy: boolean;
  readonly onSend: (text: string) => void;
  readonly onStop: () => void;
  readonly children: ReactNode;
}) {
  const [text, setText] = useState("");
  const send = () => {
    if (text.trim() === "" || busy) return;
    onSend(text.trim());
    setText("");
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <div className="composer">
      {children}
      <div className="composer-box">
        <textarea
          dir="auto"
          aria-label={`Message to ${name}`}
          placeholder={`Ask ${name}…`}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKey}
        />
        <div className="row">
          <span className="faint grow">⏎ to send, ⇧⏎ for a new line</span>
          {busy ? (
            <button type="button" className="btn" onClick={onStop}>
              Stop
            </button>
          ) : (
            <button type="button" className="btn primary" disabled={text.trim() === ""} onClick={send}>
              Send
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

/** The shown messages, with those that the server keeps in place of their earlier state. */
function withKept(shown: readonly UIMessage[], kept: readonly UIMessage[]): UIMessage[] {
  const ids = new Set(kept.map(({ id }) => id));
  return [...shown.filter(({ id }) => !ids.has(id)), ...kept];
}

/** Whether it is a tool call that a person has decided, of which the chat does not know more. */
function isWithoutRecord(part: UIMessage["parts"][number]): boolean {
  if (!isToolUIPart(part) || part.approval?.approved === undefined) return false;
  return part.approval.isAutomatic !== true && decisionOf(part.approval) === undefined;
}

/** Whether it is a tool call that was decided and has not continued. */
function isDecided(part: UIMessage["parts"][number]): boolean {
  return isToolUIPart(part) && part.state === "approval-responded";
}
