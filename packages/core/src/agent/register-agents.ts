// Registers the host's agents by their own ids; an agent of the AI SDK without one takes its key.
import { DefinitionError } from "../errors/index.ts";
import type { AnyAgent } from "./call/any-agent.ts";

export function registerAgents(agents: Readonly<Record<string, AnyAgent>>): Map<string, AnyAgent> {
  const registered = new Map<string, AnyAgent>();
  for (const [key, agent] of Object.entries(agents)) {
    const where = `Agent registered as "${key}"`;
    if (typeof agent?.generate !== "function" || typeof agent.stream !== "function") {
      throw new DefinitionError({ where, problem: "it is no agent of the AI SDK" });
    }
    const id = agent.id ?? key;
    if (id === "" || id === "." || id === "..") {
      throw new DefinitionError({ where, problem: "its id is one that no address can hold" });
    }
    if (registered.has(id)) {
      throw new DefinitionError({ where, problem: `another agent has the id "${id}" already` });
    }
    registered.set(id, agent);
  }
  return registered;
}
