// Processes for tests of turns: Andantes on one store that start, crash and stop, one after the other.
import { ToolLoopAgent, type ToolSet, type UIMessageChunk } from "ai";
import { onTestFinished } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/call/agent-options.ts";
import type { Andante } from "../../src/andante/andante.ts";
import { createAndante } from "../../src/andante/create-andante.ts";
import type { BudgetOptions } from "../../src/observe/usage/budget-options.ts";
import { memoryStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { type Crash, type CrashingStore, crashingStore } from "../../src/test-kit/crashing-store.ts";
import { RecordingLogger } from "../../src/test-kit/recording-logger.ts";
import type { Clock } from "../../src/values/clock.ts";
import type { ScriptedModel } from "../support/controlled-model.ts";
import { allInTime } from "../support/in-time.ts";

export interface Process {
  readonly andante: Andante;
  readonly life: CrashingStore;
  readonly logger: RecordingLogger;
  /** It is gone: it neither sends nor receives any more, and its claims are free. */
  end(): Promise<void>;
}

export interface ProcessOptions {
  readonly model: ScriptedModel;
  readonly tools?: ToolSet;
  readonly crash?: Crash;
  readonly clock?: Clock;
  readonly agent?: Partial<AgentOptions>;
  readonly budgets?: readonly BudgetOptions[];
  /** The agent is a plain `ToolLoopAgent` of the AI SDK. */
  readonly isPlain?: boolean;
}

/** A store that outlives its processes. */
export async function openStore(): Promise<Store> {
  const store = memoryStore();
  await store.open();
  onTestFinished(() => store.close());
  return store;
}

export function startProcess(store: Store, options: ProcessOptions): Process {
  const { model, tools = {}, crash, clock, agent, budgets, isPlain = false } = options;
  const life = crashingStore(store, crash);
  const logger = new RecordingLogger();
  const settings = { id: "clerk", model, tools };
  const clerk = isPlain ? new ToolLoopAgent(settings) : new Agent({ ...settings, ...agent });
  const andante = createAndante({
    ...{ agents: { clerk }, store: life.store, logger },
    ...(clock && { clock }),
    ...(budgets && { budgets }),
  });
  const end = async () => {
    await andante.close({ grace: 0 });
    await life.bury();
  };
  onTestFinished(end);
  return { andante, life, logger, end };
}

export function userMessage(id: string, text = id) {
  return { id, role: "user", parts: [{ type: "text", text }] };
}

/** A chat of the user `ada`. */
export function ask(andante: Andante, messageId: string, conversationId = "talk") {
  return andante.agents.chat("clerk", [userMessage(messageId)], { conversationId, userId: "ada" });
}

export function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  return allInTime(items, "the end of the reply");
}

/** The text of the chunks. */
export function said(chunks: readonly UIMessageChunk[]): string {
  return chunks.map((chunk) => (chunk.type === "text-delta" ? chunk.delta : "")).join("");
}

/** Roles and texts of the messages that the conversation keeps. */
export async function kept(
  andante: Andante,
  conversationId = "talk",
): Promise<(readonly [string, string, boolean?])[]> {
  const { messages } = await andante.conversations.messages(conversationId);
  return messages.map(({ role, parts, partial }) => {
    const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
    return partial === true ? [role, text, true] : [role, text];
  });
}
