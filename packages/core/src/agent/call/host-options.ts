// The host's own functions among an agent's options, as a call uses them: their errors are reported as the host's failure.
import type { LanguageModel, PrepareStepFunction, StopCondition, ToolSet } from "ai";
import type { AgentOptions, PerOperation } from "./agent-options.ts";
import type { Context } from "./any-agent.ts";
import { callHost, hostFunction } from "./host-function.ts";
import type { OperationContext } from "./operation.ts";

/** The value of an option that may be a function of the operation. */
export async function resolveOption<Value extends string | object | undefined>(
  option: string,
  given: PerOperation<Value>,
  context: OperationContext,
): Promise<Value> {
  return typeof given === "function" ? callHost(option, () => given(context)) : given;
}

/** The host's `prepareStep`, which sees the agent's own model; another one that it chooses is wrapped as that one is. */
export function preparing(
  prepareStep: PrepareStepFunction<ToolSet, Context>,
  own: LanguageModel,
  wrap: (model: LanguageModel) => LanguageModel,
): PrepareStepFunction<ToolSet, Context> {
  return async (step) => {
    const prepared = await callHost("prepareStep", () => prepareStep({ ...step, model: own }));
    if (prepared?.model === undefined) return prepared;
    return { ...prepared, model: prepared.model === own ? own : wrap(prepared.model) };
  };
}

export function stopConditions(stopWhen: AgentOptions["stopWhen"] = []): StopCondition<ToolSet, Context>[] {
  return [stopWhen].flat().map((condition) => hostFunction("stopWhen", condition));
}
