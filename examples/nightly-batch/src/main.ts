// Bills every night at two: `npm start --workspace examples/nightly-batch`.
import { type RunningServer, serve } from "@andante/server";
import { nextNight, nightlyWith } from "./nightly.ts";

const nightly = nightlyWith({
  customers: async () => ["Ada", "Bob", "Eve"],
  bill: async (customer, night) => console.log(`Billed ${customer} for ${night}`),
  start: startNight,
});

// A night that the last process left unfinished continues while the server still starts, and waits here for it.
const starting: Promise<RunningServer> = serve({ workflows: { nightly } });

async function startNight(night: string): Promise<void> {
  const { andante } = await starting;
  await andante.start("nightly", { night }, { executionId: `nightly-${night}` });
}

// At every start: where tonight's batch is there already, this is that one.
const tonight = nextNight(new Date());
await startNight(tonight);
const { url } = await starting;
console.log(`Tonight: ${url}/console/executions/nightly-${tonight}`);
