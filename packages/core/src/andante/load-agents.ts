// The modules of agents beside the engine: the AI SDK and its spans. Loading them takes the thread for 50 to 80 ms.
import { setTimeout } from "node:timers/promises";
import type { Agents } from "../agent/agents.ts";
import type { Engine } from "../execution/engine/engine.ts";

/** Milliseconds after the store is open and recovery has begun, in which requests that waited for that go first. */
const pause = 50;

/** Waits only where no reply has begun to load it. Rejects when it cannot be loaded, so that the start fails. */
export async function loadAgents(
  opened: Promise<void>,
  engine: Pick<Engine, "closing" | "observation">,
  agents: Pick<Agents, "areRepliesRequested" | "loadReplies">,
): Promise<void> {
  await opened;
  if (!agents.areRepliesRequested) await setTimeout(pause);
  // One that was closed meanwhile calls no agent.
  if (!engine.closing) await Promise.all([agents.loadReplies(), engine.observation.open()]);
}
