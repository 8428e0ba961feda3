// The agents that the steps of a chain ask, at any depth.
import { innerSteps, type Step, type WorkflowAgent } from "./step.ts";

export function asksAgents(steps: readonly Step[]): boolean {
  return steps.some((step) => step.type === "andAgent" || innerSteps(step).some(asksAgents));
}

export function agentsIn(steps: readonly Step[]): WorkflowAgent[] {
  return steps.flatMap((step) => [
    ...(step.type === "andAgent" ? [step.agent] : []),
    ...innerSteps(step).flatMap(agentsIn),
  ]);
}
