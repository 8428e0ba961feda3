// Bills every night at two: `npm start --workspace examples/nightly-batch`.
import { type RunningServer, serve } from "@andante/server";
import { nightAfter, nightlyWith } from "./nightly.ts";

const started: { server?: RunningServer } = {};

const nightly = nightlyWith({
  customers: async () => ["Ada", "Bob", "Eve"],
  bill: async (customer, night) => console.log(`Billed ${customer} for ${night}`),
  start: async (night) => {
    await started.server?.andante.start("nightly", { night }, { executionId: `nightly-${night}` });
  },
});

started.server = await serve({ workflows: { nightly } });
// At every start: where tonight's batch is there already, this is that one.
const night = nightAfter(new Date().toISOString().slice(0, 10));
await started.server.andante.start("nightly", { night }, { executionId: `nightly-${night}` });
console.log(`Tonight: ${started.server.url}/console/executions/nightly-${night}`);
