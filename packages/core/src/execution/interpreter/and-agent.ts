// andAgent: first the prompt, a body of its own when it is a function, then the agent's reply.
import type { AgentStep } from "../../workflow/step.ts";
import { body, evaluate } from "./body.ts";
import { enter, type Interpretation, leave, type Place } from "./commands.ts";

export function* agent(place: Place, step: AgentStep): Interpretation {
  if (typeof step.prompt !== "function") return yield* body(place, "agent", JSON.stringify(step.prompt));
  const known = yield* enter(place);
  if (known !== undefined) return known;
  const prompt = yield* evaluate(place, "prompt");
  if (prompt.kind === "error") return yield* leave(place, prompt);
  return yield* body(place, "agent", prompt.kind === "output" ? prompt.value : undefined);
}
