// What agents need beside the engine: the AI SDK and what makes their spans. Loading them takes the thread for 50 to 80 ms.
import { setTimeout } from "node:timers/promises";
import { areRepliesLoaded, loadReplies } from "../agent/agents.ts";
import type { Observation } from "../observe/observation.ts";

/** Milliseconds from when an Andante is open: what has waited for that is done first. */
const pause = 50;

/** Loads it unless a reply has done so already, and rejects when it cannot be loaded: a start is the time to say so. */
export async function loadAgents(opened: Promise<void>, observation: Observation): Promise<void> {
  await opened;
  if (!areRepliesLoaded()) await setTimeout(pause);
  await Promise.all([loadReplies(), observation.open()]);
}
