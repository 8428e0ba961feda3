// Finds a step in a definition by its path.
import type { Step } from "@andante/client";

export function findStep(steps: readonly Step[], path: readonly string[]): Step | undefined {
  const [first, ...rest] = path;
  const found = steps.find(({ id }) => id === first);
  return rest.length === 0 ? found : findStep(found?.steps ?? [], rest);
}
