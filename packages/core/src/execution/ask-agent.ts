// Asks an agent for the answer of an andAgent step.
import { StepSchemaError } from "../errors/index.ts";
import { toJsonSchema } from "../workflow/schema.ts";
import type { AgentStep } from "../workflow/step.ts";
import type { BodyContext } from "./body-context.ts";

/** The agent's answer: `{ text }`, or the object that its text holds when the step has a schema. */
export async function askAgent(
  step: AgentStep,
  path: string,
  prompt: unknown,
  context: BodyContext,
): Promise<unknown> {
  if (typeof prompt !== "string") {
    throw new StepSchemaError({ path, what: "prompt", detail: `expected a text, received ${typeof prompt}` });
  }
  const call = { abortSignal: context.signal, telemetry: context.telemetryFor(step.agent.id ?? step.id) };
  if (step.schema === undefined) {
    const { text } = await step.agent.generate({ prompt, ...call });
    return { text };
  }
  const schema = JSON.stringify(toJsonSchema(step.schema, "input", path));
  const asked = `${prompt}\n\nAnswer with JSON alone that fits this JSON Schema:\n${schema}`;
  const { text } = await step.agent.generate({ prompt: asked, ...call });
  return parseAnswer(text, path);
}

function parseAnswer(text: string, path: string): unknown {
  // Models like to wrap JSON in a fenced block.
  const inner = /^\s*```(?:json)?\s*([\s\S]*?)\s*```\s*$/.exec(text)?.[1] ?? text;
  try {
    return JSON.parse(inner);
  } catch {
    throw new StepSchemaError({ path, what: "output", detail: "the agent's answer is no JSON" });
  }
}
