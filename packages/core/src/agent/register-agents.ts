// Registers the host's agents by their own ids; an agent of the AI SDK without one gets its key as id. And the workflows of
// sub-agents that work in the background.
import { DefinitionError } from "../errors/index.ts";
import type { Logger } from "../observe/log/logger.ts";
import { checkDefinedUrlId } from "../values/check-id.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import { adoptAgent } from "./adopt-agent.ts";
import type { AnyAgent } from "./call/any-agent.ts";
import { CallableAgent } from "./call/callable-agent.ts";

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
    registered.set(id, adoptAgent(agent, key));
  }
  return registered;
}

/** Warns of agents whose calls are not recorded one by one, and names the change that has them recorded. */
export function warnOfUnrecorded(agents: ReadonlyMap<string, CallableAgent>, logger: Logger): void {
  for (const [agentId, { recordsCalls }] of agents) {
    if (recordsCalls) continue;
    const cure = "make it with new Agent({ id, … }), which has the settings of a ToolLoopAgent";
    logger.warn(
      { agentId },
      `after a crash this agent is asked again as a whole; to record its calls, ${cure}`,
    );
  }
}

/** Adds the tasks of these agents, and of those below them, to the workflows. */
export function registerTasks(agents: Iterable<object>, workflows: Map<string, WorkflowDefinition>): void {
  const known = new Set<object>();
  const workers = new Map<string, AnyAgent>();
  const add = (above: object) => {
    if (!(above instanceof CallableAgent) || known.has(above)) return;
    known.add(above);
    for (const { agent, workflow } of above.tasks) {
      const { id } = workflow;
      // Several agents may hand tasks to the same one.
      if (workers.get(id) === agent) continue;
      const problem = `its sub-agent works in the background as the workflow "${id}", and there is another one with this id`;
      if (workflows.has(id)) throw new DefinitionError({ where: `Agent "${above.id}"`, problem });
      workers.set(id, agent);
      workflows.set(id, workflow);
    }
    above.subAgents.forEach(add);
  };
  for (const agent of agents) add(agent);
}
