// Bills every night at two: `npm start --workspace examples/nightly-batch`.
import { serve } from "@andante/server";
import { nightlyWith } from "./nightly.ts";

const nightly = nightlyWith({
  customers: async () => ["Ada", "Bob", "Eve"],
  bill: async (customer, night) => console.log(`Billed ${customer} for ${night}`),
});

const { andante, url } = await serve({ workflows: { nightly } });
const { nextAt } = await andante.schedules.get("nightly:bills");
console.log(`The next night is at ${nextAt}: ${url}/console/schedules/nightly:bills`);
