// Collects the tools with open connections of agents and of the agents below them.
import type { AnyAgent } from "./call/any-agent.ts";
import { CallableAgent } from "./call/callable-agent.ts";
import type { HeldTools } from "./call/held-tools.ts";

/** Each once. */
export function heldBy(agents: Iterable<object>): Set<HeldTools> {
  const held = new Set<HeldTools>();
  const add = (agent: object | AnyAgent) => {
    if (!(agent instanceof CallableAgent)) return;
    if (agent.held !== undefined) held.add(agent.held);
    agent.subAgents.forEach(add);
  };
  for (const agent of agents) add(agent);
  return held;
}
