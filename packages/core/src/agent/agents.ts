// The registered agents and their replies: the interface for hosts and the HTTP layer.

import type { UIMessageChunk } from "ai";
import {
  AgentNotFoundError,
  BudgetReachedError,
  ConversationConflictError,
  ConversationNotFoundError,
  PlaygroundOffError,
} from "../errors/index.ts";
import { activeTraceparent } from "../observe/trace/active-span.ts";
import type { ApprovalStore } from "../store/approval-store.ts";
import { checkId, checkUrlId } from "../values/check-id.ts";
import { isoTime } from "../values/iso-time.ts";
import type { JsonSchema, Schema } from "../values/schema.ts";
import type { HeldTools } from "./call/callable-agent.ts";
import { CallableAgent } from "./call/callable-agent.ts";
import type { PlaygroundChoices, PlaygroundSettings } from "./call/playground.ts";
import type { ToolDecision } from "./conversation/apply-tool-decisions.ts";
import type { ConversationMessage, OwnerOption } from "./conversation/conversations.ts";
import { messageOf } from "./conversation/kept-message.ts";
import { type AgentDetail, type AgentSummary, describeAgent, type ToolSchemas } from "./describe-agent.ts";
import type { BackgroundEnd } from "./durable/children.ts";
import type { StreamPart } from "./reply/stream-part.ts";
import type { TextReply } from "./reply/text-reply.ts";
import type { ObjectShape } from "./schema/object-shape.ts";
import { SchemaChecker } from "./schema/schema-checker.ts";
import type { ActiveTurn } from "./turn/active-turn.ts";
import { ActiveTurns } from "./turn/active-turns.ts";
import type { AgentCallOptions } from "./turn/call-options.ts";
import { ClientApprovals } from "./turn/client-approvals.ts";
import type { DecidedCall } from "./turn/decide-approval.ts";
import type { KeptTurn } from "./turn/kept-turn.ts";
import { KeptTurns } from "./turn/kept-turns.ts";
import type { ObjectPart } from "./turn/object-reply.ts";
import type { SchedulePrompt } from "./turn/post-prompt.ts";
import { QueuedTurns } from "./turn/queued-turns.ts";
import { recoveredTurn } from "./turn/recovered-turn.ts";
import type { ReplyState, StartedReply, StartReplyOptions } from "./turn/start-reply.ts";
import type { StartedTurn } from "./turn/start-turn.ts";
import type { Turn } from "./turn/turn.ts";
import type { StartTurnOptions, TurnEnvironment } from "./turn/turn-environment.ts";
import type {
  ExpiredApproval,
  ExpiredWait,
  LiveTurn,
  RunningTurn,
  TurnExecutions,
} from "./turn/turn-host.ts";
import { TurnsElsewhere, type WhichTurn } from "./turn/turns-elsewhere.ts";

type Replies = typeof import("./turn/replies.ts");

/** One load for a process, as modules are: a second Andante in it finds them. */
let loading: Promise<Replies> | undefined;

export interface ChatOptions extends AgentCallOptions {
  /** The reply continues when its reader leaves, and can be attached to. Default: true in a conversation that is kept. */
  readonly resumable?: boolean | undefined;
  /** Reply again to a message that already has a reply. Default: false. */
  readonly again?: boolean | undefined;
  /**
   * The id of the reply that `again` means; messages that came after it are taken back. Default: the last reply, and
   * newer messages are a conflict.
   */
  readonly replaces?: string | undefined;
  /** Another model, temperature or instructions for this reply; only this reply has them. Default: the agent's. */
  readonly playground?: PlaygroundSettings | undefined;
}

export interface AgentsOptions
  extends Omit<TurnEnvironment, "turns" | "approvals" | "kept" | "queues" | "schemas" | "elsewhere"> {
  readonly approvals: ApprovalStore;
  /** Runs the turns of kept conversations. */
  readonly executions: TurnExecutions;
  /** How many replies may run at once. */
  readonly maxReplies: number;
  readonly agents: ReadonlyMap<string, CallableAgent>;
  /** The agents that workflows ask. */
  readonly asked: readonly object[];
}

/** The end of the wait of a tool. */
export interface ToolResume {
  readonly suspensionId: string;
  /** Default: null. */
  readonly resumeData?: unknown;
  /** Who resumes it; kept in the journal. Default: unknown. */
  readonly by?: string | undefined;
}

export class Agents {
  readonly #agents: ReadonlyMap<string, CallableAgent>;
  readonly #turns: ActiveTurns;
  readonly #environment: TurnEnvironment;
  readonly #executions: TurnExecutions;
  readonly #held: ReadonlySet<HeldTools>;
  readonly #toolSchemas: ToolSchemas = new WeakMap();

  /** Checks values against JSON Schemas, resume data of agent calls included. */
  readonly schemas: SchemaChecker;
  /** The messages that wait in conversations. */
  readonly queues: QueuedTurns;
  /** The turns of kept conversations, for the engine that runs their executions. */
  readonly kept: KeptTurns;

  constructor({ agents, asked, approvals, executions, maxReplies, ...environment }: AgentsOptions) {
    this.#held = collectHeldTools([...agents.values(), ...asked]);
    for (const tools of this.#held) tools.retain();
    this.#turns = new ActiveTurns(maxReplies);
    this.#agents = agents;
    this.#executions = executions;
    this.kept = new KeptTurns({
      agentIds: [...agents.keys()],
      executions,
      recover: (running) => this.#recover(running),
      expire: (call) => this.#expire(call),
      look: () => this.queues.look(),
    });
    this.schemas = new SchemaChecker(environment.logger);
    const { conversations, clock, logger } = environment;
    this.queues = new QueuedTurns({
      ...{
        conversations,
        clock,
        logger,
        agents,
        turns: this.#turns,
        isShared: executions.others !== undefined,
      },
      begin: async (message) => (await this.loadReplies()).beginQueued(this.#environment, message),
    });
    this.#environment = {
      ...environment,
      queues: this.queues,
      turns: this.#turns,
      kept: this.kept,
      schemas: this.schemas,
      approvals: new ClientApprovals(approvals, environment.clock),
      elsewhere: executions.others && new TurnsElsewhere(executions.others, environment.conversations),
    };
  }

  /** Whether this process has the modules of replies, or loads them. */
  get areRepliesRequested(): boolean {
    return loading !== undefined;
  }

  /** Loads the modules of replies, at the first reply at the latest. Node takes 10 µs to find a loaded module. */
  loadReplies(): Promise<Replies> {
    loading ??= import("./turn/replies.ts");
    return loading;
  }

  /** The registered agents, in order of registration. */
  async list(): Promise<readonly AgentSummary[]> {
    const details = await Promise.all([...this.#agents.keys()].map((id) => this.read(id)));
    return details.map(({ instructions: _, ...summary }) => summary);
  }

  async read(agentId: string): Promise<AgentDetail> {
    const description = await describeAgent(this.#agent(agentId), this.#toolSchemas);
    return { ...description, status: this.#turns.isRunning(agentId) ? "running" : "idle" };
  }

  /** Throws when no agent of this id is registered. */
  check(agentId: string): void {
    this.#agent(agentId);
  }

  /** The choices of the playground. Throws when the agent has none, or is not registered. */
  playground(agentId: string): PlaygroundChoices {
    const { playground } = this.#agent(agentId);
    if (playground === undefined) throw new PlaygroundOffError({ agentId });
    return playground;
  }

  /** A complete reply as text. */
  async text(agentId: string, input: unknown, options: AgentCallOptions = {}): Promise<TextReply> {
    const { textReply } = await this.loadReplies();
    const started = await this.#start(agentId, input, { ...options, mode: "text" });
    return started.kind === "shared" && started.reply.mode === "text"
      ? started.reply.reply
      : textReply(turnOf(started));
  }

  /** An object that fits the schema, such as one of Zod, and has its type; `unknown` for a JSON Schema. */
  async object<Output>(
    agentId: string,
    input: unknown,
    schema: Schema<unknown, Output>,
    options?: AgentCallOptions,
  ): Promise<Output>;
  async object(
    agentId: string,
    input: unknown,
    schema: Schema | JsonSchema,
    options?: AgentCallOptions,
  ): Promise<unknown>;
  async object(
    agentId: string,
    input: unknown,
    schema: Schema | JsonSchema,
    options: AgentCallOptions = {},
  ): Promise<unknown> {
    this.check(agentId);
    const { objectReply, shapeOf } = await this.loadReplies();
    const shape = await shapeOf(schema, this.schemas);
    return objectReply(await this.#startObject(agentId, input, shape, options), shape);
  }

  /** Every part of a reply as it comes. A reader that leaves stops it. */
  async stream(
    agentId: string,
    input: unknown,
    options: AgentCallOptions = {},
  ): Promise<AsyncIterableIterator<StreamPart>> {
    const { streamReply } = await this.loadReplies();
    return streamReply(turnOf(await this.#start(agentId, input, { ...options, mode: "stream" })));
  }

  /** An object as it grows, of a schema as `object` takes it. A reader that leaves stops it. */
  async streamObject<Output>(
    agentId: string,
    input: unknown,
    schema: Schema<unknown, Output>,
    options?: AgentCallOptions,
  ): Promise<AsyncIterableIterator<ObjectPart<Output>>>;
  async streamObject(
    agentId: string,
    input: unknown,
    schema: Schema | JsonSchema,
    options?: AgentCallOptions,
  ): Promise<AsyncIterableIterator<ObjectPart>>;
  async streamObject(
    agentId: string,
    input: unknown,
    schema: Schema | JsonSchema,
    options: AgentCallOptions = {},
  ): Promise<AsyncIterableIterator<ObjectPart>> {
    this.check(agentId);
    const { shapeOf, streamObject } = await this.loadReplies();
    const shape = await shapeOf(schema, this.schemas);
    return streamObject(await this.#startObject(agentId, input, shape, options), shape);
  }

  /** A reply in the AI SDK's UI message stream. */
  async chat(
    agentId: string,
    input: unknown,
    { resumable, ...options }: ChatOptions = {},
  ): Promise<AsyncIterableIterator<UIMessageChunk>> {
    // A caller that has stopped reading a reply and sends the next message does not want to wait for it.
    const { runChat } = await this.loadReplies();
    const how = { mode: "chat", stopUnread: true, keepsPlace: resumable !== false } as const;
    const started = await this.#start(agentId, input, { ...options, ...how });
    return started.kind === "shared" && started.reply.mode === "chat"
      ? started.reply.read()
      : runChat(turnOf(started), { resumable });
  }

  /**
   * A reply that no caller waits for: resolves when its message is kept. It is made in the conversation, or in a new one, and
   * continues after a restart; `reply` reads it.
   */
  async start(agentId: string, input: unknown, options: StartReplyOptions = {}): Promise<StartedReply> {
    const { startReply } = await this.loadReplies();
    return startReply(this.#environment, this.#agent(agentId), input, options);
  }

  /** The reply to a message, as far as it is kept. `owner` limits it to the conversations of one user. */
  async reply(conversationId: string, messageId: string, owner: OwnerOption = {}): Promise<ReplyState> {
    checkUrlId(conversationId, "conversationId");
    checkId(messageId, "messageId");
    const { readReply } = await this.loadReplies();
    return readReply(this.#environment, this.#executions, { conversationId, messageId }, owner);
  }

  /**
   * The reply that runs in a conversation, from its beginning; undefined when none does. One that another process makes
   * comes in one piece, once it is complete.
   */
  async attach(
    agentId: string,
    conversationId: string,
    owner: OwnerOption = {},
  ): Promise<AsyncIterableIterator<UIMessageChunk> | undefined> {
    const running = this.#running(agentId, conversationId, owner);
    if (running !== undefined) return running.attach();
    const { elsewhere } = this.#environment;
    const live = await this.#findElsewhere({ agentId, conversationId, ...owner });
    return live && elsewhere?.read(live, conversationId);
  }

  /**
   * Decides about a tool call that waits for approval in a conversation, for a person beside the chat. Resolves when the
   * decision is kept; the reply then continues by itself. The first decision about a call counts, a later one is a
   * conflict. `owner` limits it to the conversations of one user.
   */
  async decide(
    conversationId: string,
    decision: ToolDecision,
    owner: OwnerOption = {},
  ): Promise<DecidedCall> {
    checkUrlId(conversationId, "conversationId");
    const { decideApproval } = await this.loadReplies();
    const parts = { environment: this.#environment, executions: this.#executions, agents: this.#agents };
    return decideApproval(parts, conversationId, decision, owner);
  }

  /**
   * Resumes a tool that waits in a conversation, with data that fits its schema. Resolves when that is kept; the reply then
   * continues by itself. `owner` limits it to the conversations of one user.
   */
  async resume(
    conversationId: string,
    { suspensionId, resumeData, by }: ToolResume,
    owner: OwnerOption = {},
  ): Promise<void> {
    checkUrlId(conversationId, "conversationId");
    checkId(suspensionId, "suspensionId");
    const { conversations, ready } = this.#environment;
    await ready;
    if ((await conversations.read({ conversationId, ...owner })) === undefined)
      throw new ConversationNotFoundError({ conversationId });
    const { schemas } = this;
    await this.#executions.resume({ conversationId, suspensionId, data: resumeData, by, schemas });
  }

  /** Posts the end of work in the background into its conversation. False when this process has not its agent. */
  async postEnd(end: BackgroundEnd): Promise<boolean> {
    const { postEnd } = await this.loadReplies();
    const parts = { environment: this.#environment, executions: this.#executions, agents: this.#agents };
    return postEnd(parts, end);
  }

  /** Posts the prompt of a schedule into its conversation, once for its id; the reply is made by itself. */
  async postPrompt({ agentId, ...prompt }: Omit<SchedulePrompt, "agent"> & { readonly agentId: string }) {
    const agent = this.#agent(agentId);
    const { postPrompt } = await this.loadReplies();
    return postPrompt(this.#environment, this.#executions, { agent, ...prompt });
  }

  /** The messages that wait for their replies in a conversation, in their order. */
  async queue(
    agentId: string,
    conversationId: string,
    owner: OwnerOption = {},
  ): Promise<readonly ConversationMessage[]> {
    this.check(agentId);
    checkUrlId(conversationId, "conversationId");
    await this.#environment.ready;
    const queue = await this.queues.list({ agentId, conversationId, ...owner });
    return queue.map((message) => ({ ...messageOf(message), createdAt: isoTime(message.createdAt) }));
  }

  /** Takes back a message that waits for its reply. Its caller gets an error. */
  async withdraw(
    agentId: string,
    conversationId: string,
    messageId: string,
    owner: OwnerOption = {},
  ): Promise<void> {
    this.check(agentId);
    checkUrlId(conversationId, "conversationId");
    await this.#environment.ready;
    await this.queues.withdraw({ agentId, conversationId, messageId, ...owner });
  }

  /** Stops the reply that runs in a conversation and keeps it as far as it came. Resolves to whether one ran. */
  async stop(agentId: string, conversationId: string, owner: OwnerOption = {}): Promise<boolean> {
    const turn = this.#running(agentId, conversationId, owner);
    if (turn === undefined) {
      const which = { agentId, conversationId, ...owner };
      if (await this.#endWait(which)) return true;
      if (!(await this.#stopElsewhere(which))) return false;
      // Its tools may have begun to wait just before.
      await this.#endWait(which);
      return true;
    }
    turn.stop();
    await turn.over;
    return true;
  }

  /** A reply whose tools wait runs nowhere. An approval stays: it is decided, or followed by another message. */
  async #endWait({ agentId, conversationId, userId }: WhichTurn): Promise<boolean> {
    const live = await this.#executions.live(conversationId);
    if (live?.agentId !== agentId || !live.waitsForTools) return false;
    return (userId === undefined || live.userId === userId) && this.#executions.endWait(live);
  }

  async #stopElsewhere(which: WhichTurn): Promise<boolean> {
    const { elsewhere } = this.#environment;
    const live = await this.#findElsewhere(which);
    if (live === undefined) return false;
    await elsewhere?.stop(live);
    return true;
  }

  /** One that runs here and was not found here is its caller's alone. */
  async #findElsewhere(which: WhichTurn): Promise<LiveTurn | undefined> {
    const live = await this.#environment.elsewhere?.find(which);
    return live === undefined || this.kept.has(live.executionId) ? undefined : live;
  }

  /** Stops a turn if it runs here, and keeps the reply as far as it came. */
  stopTurn(executionId: string): void {
    this.kept.stop(executionId);
  }

  /** A conversation was removed: the reply that runs in it is stopped. */
  forget(conversationId: string): void {
    this.#turns.stopIn(conversationId);
  }

  /** Accepts nothing new; running replies get the grace period, then they are aborted. */
  async close(grace: number): Promise<void> {
    await this.#turns.close(grace);
    await this.schemas.close();
  }

  /** Nothing runs any more: connections of tools are closed, unless others use them. */
  async releaseTools(): Promise<void> {
    await Promise.all(Array.from(this.#held, (tools) => tools.release()));
  }

  #agent(agentId: string): CallableAgent {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) throw new AgentNotFoundError({ agentId });
    return agent;
  }

  async #start(agentId: string, input: unknown, options: StartTurnOptions): Promise<StartedTurn> {
    const { startTurn } = await this.loadReplies();
    const traceparent = options.traceparent ?? activeTraceparent();
    return startTurn(this.#environment, this.#agent(agentId), input, { ...options, traceparent });
  }

  async #startObject(
    agentId: string,
    input: unknown,
    { schema }: ObjectShape,
    options: AgentCallOptions,
  ): Promise<Turn> {
    return turnOf(await this.#start(agentId, input, { ...options, mode: "object", schema }));
  }

  async #expire({ conversationId, ...decision }: ExpiredApproval): Promise<ExpiredWait> {
    try {
      await this.decide(conversationId, { ...decision, byDeadline: true });
      return true;
    } catch (error) {
      // The call was decided, or the conversation removed.
      if (error instanceof ConversationConflictError || error instanceof ConversationNotFoundError)
        return false;
      if (error instanceof BudgetReachedError) return "cancel";
      throw error;
    }
  }

  #recover(running: RunningTurn): KeptTurn {
    const recovered = recoveredTurn(this.#environment, this.#agents, running);
    // Messages whose process has died with this turn wait for its end.
    void recovered.active.over.then(() => this.queues.look()).catch(() => undefined);
    this.loadReplies()
      .then(({ continueTurn }) => continueTurn(this.#environment, recovered))
      // Without the modules of replies the start fails as well, and the next process continues this turn.
      .catch((err) => this.#environment.logger.error({ err }, "a reply could not be continued"));
    return recovered.kept;
  }

  #running(agentId: string, conversationId: string, { userId }: OwnerOption): ActiveTurn | undefined {
    this.check(agentId);
    const turn = this.#turns.find(conversationId, userId);
    return turn?.agentId === agentId ? turn : undefined;
  }
}

/** The tools that the agents and the agents below them hold open. Deduplicated. */
function collectHeldTools(agents: Iterable<object>): Set<HeldTools> {
  const held = new Set<HeldTools>();
  const add = (agent: object) => {
    if (!(agent instanceof CallableAgent)) return;
    if (agent.held !== undefined) held.add(agent.held);
    agent.subAgents.forEach(add);
  };
  for (const agent of agents) add(agent);
  return held;
}

/** Only chats and texts are shared; other calls wait for the conversation. */
function turnOf(started: StartedTurn): Turn {
  if (started.kind === "new") return started.turn;
  throw new TypeError(`a reply of the mode ${started.reply.mode} was shared`);
}
