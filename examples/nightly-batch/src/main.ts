// Bills every night at two: `npm start --workspace examples/nightly-batch`.
import { type RunningServer, serve } from "@andante/server";
import { nextNight, nightlyWith } from "./nightly.ts";

const nightly = nightlyWith({
  customers: async () => ["Ada", "Bob", "Eve"],
  bill: async (customer, night) => console.log(`Billed ${customer} for ${night}`),
  start: startNight,
});

// An unfinished night of the last process resumes while the server starts, and waits for this promise.
const starting: Promise<RunningServer> = serve({ workflows: { nightly } });

async function startNight(night: string): Promise<void> {
  const { andante } = await starting;
  await andante.start("nightly", { night }, { executionId: `nightly-${night}` });
}

// At every start: if tonight's batch exists already, this has no effect.
const tonight = nextNight(new Date());
await startNight(tonight);
const { url } = await starting;
console.log(`Tonight: ${url}/console/executions/nightly-${tonight}`);
