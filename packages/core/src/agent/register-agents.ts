// Registers the host's agents by their own ids; an agent of the AI SDK without one gets its key as id.
import { DefinitionError } from "../errors/index.ts";
import { checkDefinedUrlId } from "../values/check-id.ts";
import type { AnyAgent } from "./call/any-agent.ts";
import type { CallableAgent } from "./call/callable-agent.ts";
import { callableAgent } from "./call/foreign-agent.ts";

export function registerAgents(agents: Readonly<Record<string, AnyAgent>>): Map<string, CallableAgent> {
  const registered = new Map<string, CallableAgent>();
  for (const [key, agent] of Object.entries(agents)) {
    const where = `Agent registered as "${key}"`;
    if (typeof agent?.generate !== "function" || typeof agent.stream !== "function") {
      throw new DefinitionError({ where, problem: "it is not an agent of the AI SDK" });
    }
    const id = agent.id ?? key;
    checkDefinedUrlId(id, where);
    if (registered.has(id)) {
      throw new DefinitionError({ where, problem: `another agent already has the id "${id}"` });
    }
    registered.set(id, callableAgent(agent, key));
  }
  return registered;
}
