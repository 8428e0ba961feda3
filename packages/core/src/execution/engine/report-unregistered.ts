// The line at start about executions whose workflow is not registered: nothing else would ever mention them.
import type { Engine } from "./engine.ts";

export async function reportUnregistered({
  store,
  workflows,
  logger,
}: Pick<Engine, "store" | "workflows" | "logger">): Promise<void> {
  const counts = await store.countUnfinished();
  const unregistered = counts
    .filter(({ workflowId }) => !workflows.has(workflowId))
    .map(({ workflowId, count }) => ({ workflowId, executions: count }));
  if (unregistered.length === 0) return;
  logger.warn(
    { workflows: unregistered },
    "executions of workflows that are not registered do not continue: register the workflows again, or cancel them",
  );
}
