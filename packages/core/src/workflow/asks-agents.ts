// Whether any step of a chain asks an agent, at any depth.
import { innerSteps, type Step } from "./step.ts";

export function asksAgents(steps: readonly Step[]): boolean {
  return steps.some((step) => step.type === "andAgent" || innerSteps(step).some(asksAgents));
}
