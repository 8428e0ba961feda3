// The host's own functions among an agent's options, as a call uses them: what they throw is told as the host's failure.
import type {
  LanguageModel,
  PrepareStepFunction,
  StopCondition,
  ToolApprovalConfiguration,
  ToolSet,
} from "ai";
import type { AgentOptions, PerOperation } from "./agent-options.ts";
import type { Context } from "./any-agent.ts";
import { callHost, hostFunction } from "./host-function.ts";
import type { OperationContext } from "./operation.ts";

/** The value of an option that may be a function of the operation. */
export async function made<Value extends string | object | undefined>(
  option: string,
  given: PerOperation<Value>,
  context: OperationContext,
): Promise<Value> {
  return typeof given === "function" ? callHost(option, () => given(context)) : given;
}

export interface StepModels {
  /** The agent's model as it replies. */
  readonly own: LanguageModel;
  /** The same for the host, which may ask it something else: nothing that it says then belongs to the reply. */
  readonly lent: LanguageModel;
  readonly wrap: (model: LanguageModel) => LanguageModel;
}

/** The host's `prepareStep`; a model that it chooses is wrapped as the agent's own is. */
export function preparing(
  prepareStep: PrepareStepFunction<ToolSet, Context>,
  { own, lent, wrap }: StepModels,
): PrepareStepFunction<ToolSet, Context> {
  return async (step) => {
    const prepared = await callHost("prepareStep", () => prepareStep({ ...step, model: lent }));
    if (prepared?.model === undefined) return prepared;
    return { ...prepared, model: prepared.model === lent ? own : wrap(prepared.model) };
  };
}

export function stopConditions({ stopWhen = [] }: AgentOptions): StopCondition<ToolSet, Context>[] {
  return [stopWhen].flat().map((condition) => hostFunction("stopWhen", condition));
}

type Approval = ToolApprovalConfiguration<ToolSet, Context>;

/** The host's `toolApproval`, one function or one for each tool. */
export function hostApproval(given: Approval | undefined): Approval | undefined {
  const option = "toolApproval";
  if (given === undefined) return undefined;
  if (typeof given === "function") return hostFunction(option, given);
  const entries = Object.entries(given).map(([name, each]) => [
    name,
    typeof each === "function" ? hostFunction(option, each) : each,
  ]);
  return Object.fromEntries(entries);
}
