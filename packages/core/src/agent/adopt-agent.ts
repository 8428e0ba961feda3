// An agent of the AI SDK as one of ours: made of its settings, so that its calls are recorded one by one.
import { isRecord, propertyOf } from "../values/fields.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./call/agent-options.ts";
import type { AnyAgent } from "./call/any-agent.ts";
import type { CallSettings } from "./call/call-settings.ts";
import { CallableAgent } from "./call/callable-agent.ts";
import { callableAgent, refuseSettings } from "./call/foreign-agent.ts";

/** The agent as Andante calls it; `id` is for one that has none of its own. */
export function adoptAgent(agent: AnyAgent, id: string): CallableAgent {
  const settings = agent instanceof CallableAgent ? undefined : settingsOf(agent);
  if (settings === undefined) return callableAgent(agent, id);
  try {
    return new AdoptedAgent({ ...settings, id: agent.id ?? id });
  } catch {
    // It has a setting that ours refuses.
    return callableAgent(agent, id);
  }
}

/** It keeps its settings to itself, as an agent that is not ours does. */
class AdoptedAgent extends Agent {
  override get model(): null {
    return null;
  }
  override get instructions(): null {
    return null;
  }

  override checkSettings(settings: CallSettings): void {
    refuseSettings(this.id, settings);
  }
}

/** The settings of a `ToolLoopAgent`; undefined for any other agent, and for a class or an object that changes one. */
function settingsOf(agent: AnyAgent): AgentOptions | undefined {
  const settings = propertyOf(agent, "settings");
  const isPlain = propertyOf(Object.getPrototypeOf(agent), "constructor") === agent.constructor;
  if (agent.constructor.name !== "ToolLoopAgent" || !isPlain || !isRecord(settings)) return undefined;
  if (Object.hasOwn(agent, "generate") || Object.hasOwn(agent, "stream")) return undefined;
  const { timeout } = settings;
  // A number is the time of the whole reply there.
  const given = { ...settings, ...(typeof timeout === "number" && { timeout: { totalMs: timeout } }) };
  const defined = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as unknown as AgentOptions;
}
