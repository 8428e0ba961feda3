// Opens turns: checks what the caller asks, opens the conversation, and knows every answer that is under way.
import type { TelemetryOptions } from "ai";
import { v7 as uuid } from "uuid";
import type { AndanteError } from "../../errors/index.ts";
import {
  InvalidOptionError,
  ReplyStoppedError,
  ShuttingDownError,
  UnserializableError,
} from "../../errors/index.ts";
import type { Logger } from "../../observe/log/logger.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import { checkText } from "../../values/check-id.ts";
import { toJson } from "../../values/json.ts";
import { Agent } from "../agent.ts";
import type { AnyAgent } from "../call/any-agent.ts";
import { type CallSettings, checkSettings, pickSettings } from "../call/call-settings.ts";
import { Operation } from "../call/operation.ts";
import { openConversation } from "../conversation/open-conversation.ts";
import { forModel, type GivenMessages, lastOf, readMessages } from "./given-messages.ts";
import { KeyedQueue } from "./keyed-queue.ts";
import { Turn } from "./turn.ts";

/** Who asks, and how. */
export interface AgentCallOptions extends CallSettings {
  /** Whom the answer is for. Default: nobody. */
  readonly userId?: string | undefined;
  /** The conversation that it belongs to. Default: none, nothing is kept. */
  readonly conversationId?: string | undefined;
  /** Data for instructions, hooks and tools; JSON. Default: none. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** The caller's W3C `traceparent`: the spans of the answer become part of that trace. Default: a trace of their own. */
  readonly traceparent?: string | undefined;
  /** Aborted when nobody waits for the answer any more. Default: somebody always does. */
  readonly signal?: AbortSignal | undefined;
}

/** How a turn is opened, beside what the caller says. */
export interface OpenOptions extends AgentCallOptions {
  /** Answer again a message that has been answered. Default: false. */
  readonly again?: boolean | undefined;
  /** Called when everything is valid, before waiting for others who talk in the same conversation. */
  readonly arrive?: () => void;
}

interface OpenerOptions {
  readonly conversations: ConversationStore;
  readonly logger: Logger;
  /** Makes the AI SDK's `telemetry` option for the agents of one operation. Default: nobody observes. */
  readonly telemetry?: OperationTelemetry | undefined;
  readonly ready: Promise<void>;
}

/** Who asks, as far as spans tell it. */
export type OperationTelemetry = (
  facts: {
    readonly userId?: string | undefined;
    readonly conversationId?: string | undefined;
    readonly traceparent?: string | undefined;
  },
  logger: Logger,
) => (agentId: string) => TelemetryOptions;

/** What the agents of others remember. */
const defaultWindow = 50;
/** Milliseconds that an aborted answer gets to end in order. */
const abortGrace = 1000;

export class TurnOpener {
  readonly #options: OpenerOptions;
  readonly #queue = new KeyedQueue();
  /** Every answer under way, from the first check on. */
  readonly #under = new Set<ActiveTurn>();
  #closing = false;

  constructor(options: OpenerOptions) {
    this.#options = options;
  }

  isRunning(agentId: string): boolean {
    for (const each of this.#under) if (each.agentId === agentId) return true;
    return false;
  }

  async open(agentId: string, agent: AnyAgent, input: unknown, options: OpenOptions): Promise<Turn> {
    if (this.#closing) throw new ShuttingDownError();
    const { settings, context } = checkOptions(agentId, agent, options);
    const window = agent instanceof Agent ? agent.window : defaultWindow;
    const keeps = options.conversationId !== undefined && window > 0;
    const given = await readMessages(input, agent.tools ?? {}, keeps ? "last" : "all");
    const under = new ActiveTurn(agentId, options.signal);
    this.#under.add(under);
    try {
      await this.#options.ready;
      const operation = this.#operation(agentId, options, context, under.signal);
      const facts = { agentId, agent, operation, settings, under };
      return keeps
        ? await this.#openKept(facts, given, window, options)
        : await this.#openUnkept(facts, given);
    } catch (error) {
      this.#leave(under);
      throw under.signal.aborted ? under.signal.reason : error;
    }
  }

  async close(grace: number): Promise<void> {
    this.#closing = true;
    await within(grace, this.#allOver());
    for (const under of this.#under) under.abort(new ShuttingDownError());
    await within(abortGrace, this.#allOver());
  }

  #operation(
    agentId: string,
    { userId, conversationId, traceparent }: AgentCallOptions,
    context: Map<string, unknown>,
    signal: AbortSignal,
  ): Operation {
    const logger = this.#options.logger.child({
      agentId,
      ...(conversationId !== undefined && { conversationId }),
      ...(userId !== undefined && { userId }),
    });
    const telemetry = this.#options.telemetry?.({ userId, conversationId, traceparent }, logger);
    return new Operation({ userId, conversationId, context, logger, signal }, telemetry);
  }

  async #openUnkept(facts: Facts, given: GivenMessages): Promise<Turn> {
    const { under, ...rest } = facts;
    return new Turn({
      ...rest,
      messages: await forModel(given, facts.agent.tools ?? {}),
      history: given.kind === "chat" ? given.messages : [],
      replyId: uuid(),
      conversation: undefined,
      abort: (reason) => under.abort(reason),
      detach: () => under.detach(),
      leave: () => this.#leave(under),
    });
  }

  async #openKept(facts: Facts, given: GivenMessages, window: number, how: OpenOptions): Promise<Turn> {
    const { under, ...rest } = facts;
    const { agent, agentId, operation } = facts;
    const { conversationId = "" } = operation;
    const userId = operation.userId ?? null;
    const tools = agent.tools ?? {};
    const sent = lastOf(given);
    how.arrive?.();
    const pass = await this.#queue.enter(conversationId, under.signal);
    under.onLeave(pass);
    const store = this.#options.conversations;
    const opening = { agent: { tools, window }, agentId, conversationId, userId, again: how.again === true };
    const { history, replyId } = await openConversation(store, opening, sent);
    return new Turn({
      ...rest,
      messages: await forModel({ kind: "chat", messages: history }, tools),
      history,
      replyId,
      conversation: { store, conversationId, userId },
      abort: (reason) => under.abort(reason),
      detach: () => under.detach(),
      leave: () => this.#leave(under),
    });
  }

  #leave(under: ActiveTurn): void {
    this.#under.delete(under);
    under.leave();
  }

  async #allOver(): Promise<void> {
    await Promise.all([...this.#under].map((under) => under.over));
  }
}

interface Facts {
  readonly agentId: string;
  readonly agent: AnyAgent;
  readonly operation: Operation;
  readonly settings: CallSettings;
  readonly under: ActiveTurn;
}

/** One answer under way: how to abort it, and when it is over. */
class ActiveTurn {
  readonly agentId: string;
  readonly #controller = new AbortController();
  readonly #over = Promise.withResolvers<void>();
  readonly #caller: AbortSignal | undefined;
  readonly #leaving: (() => void)[] = [];

  constructor(agentId: string, caller: AbortSignal | undefined) {
    this.agentId = agentId;
    this.#caller = caller;
    if (caller?.aborted) this.#dropped();
    else caller?.addEventListener("abort", this.#dropped, { once: true });
  }

  readonly #dropped = () => this.abort(new ReplyStoppedError());

  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  get over(): Promise<void> {
    return this.#over.promise;
  }

  abort(reason: AndanteError): void {
    this.#controller.abort(reason);
  }

  /** From now on the caller may leave without stopping it. */
  detach(): void {
    this.#caller?.removeEventListener("abort", this.#dropped);
  }

  onLeave(action: () => void): void {
    this.#leaving.push(action);
  }

  leave(): void {
    this.detach();
    for (const action of this.#leaving.splice(0)) action();
    this.#over.resolve();
  }
}

function checkOptions(agentId: string, agent: AnyAgent, options: AgentCallOptions) {
  const { userId, conversationId, context = {}, ...settings } = options;
  checkText(userId, "userId");
  checkText(conversationId, "conversationId");
  if (conversationId === "." || conversationId === "..") {
    throw new InvalidOptionError({ option: "conversationId", problem: "no address can hold it" });
  }
  checkSettings(settings, agent instanceof Agent ? agent.maxSteps : Number.MAX_SAFE_INTEGER);
  const [given] = Object.entries(pickSettings(settings)).filter(([, value]) => value !== undefined);
  if (given !== undefined && !(agent instanceof Agent)) {
    throw new InvalidOptionError({ option: given[0], problem: `agent ${agentId} has settings of its own` });
  }
  return { settings: pickSettings(settings), context: contextMap(context) };
}

function contextMap(context: unknown): Map<string, unknown> {
  const option = "context";
  if (typeof context !== "object" || context === null || Array.isArray(context)) {
    throw new InvalidOptionError({ option, problem: "expected an object" });
  }
  try {
    toJson(context, option);
  } catch (error) {
    if (error instanceof UnserializableError)
      throw new InvalidOptionError({ option, problem: error.message });
    throw error;
  }
  return new Map(Object.entries(context));
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
