// The modules of agents beside the engine: the AI SDK and its spans. Loading them takes the thread for 50 to 80 ms.
import { setTimeout } from "node:timers/promises";
import { areRepliesRequested, loadReplies } from "../agent/agents.ts";
import type { Engine } from "../execution/engine/engine.ts";

/** Milliseconds after the store is open and recovery has begun, in which requests that waited for that go first. */
const pause = 50;

/** Waits only where no reply has begun to load it. Rejects when it cannot be loaded: the start is the time to say so. */
export async function loadAgents(
  opened: Promise<void>,
  engine: Pick<Engine, "closing" | "observation">,
): Promise<void> {
  await opened;
  if (!areRepliesRequested()) await setTimeout(pause);
  // One that was closed meanwhile asks no agent.
  if (!engine.closing) await Promise.all([loadReplies(), engine.observation.open()]);
}
