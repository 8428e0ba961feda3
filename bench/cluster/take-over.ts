// The time until another node has finished the executions of a killed node.
import { createAndante, createLogger } from "@andante/core";
import { postgresStore } from "@andante/postgres";
import { held } from "./workflows.ts";

/** Milliseconds from the kill to the end of the execution "held", seen on a node that does not begin it. */
export async function takeOver(
  options: { readonly url: string; readonly schema: string; readonly lease: number },
  kill: () => Promise<void>,
): Promise<number> {
  const store = postgresStore(options);
  const andante = createAndante({ workflows: { held }, store, logger: createLogger({ level: "silent" }) });
  await andante.ready();
  try {
    const result = andante.execute("held", { n: 1 }, { executionId: "held" });
    const start = performance.now();
    await kill();
    const { status } = await result;
    if (status !== "completed") throw new Error(`it is ${status}`);
    return performance.now() - start;
  } finally {
    await andante.close();
  }
}
