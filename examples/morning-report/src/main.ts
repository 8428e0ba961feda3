// The report of each morning: `npm start --workspace examples/morning-report` makes the one of today at once.
import { demoModel } from "@andante/demo-model";
import { serve } from "@andante/server";
import { researcherWith } from "./researcher.ts";

const researcher = researcherWith(demoModel({ delay: 30 }), async (topic) => [
  `The ${topic} rise`,
  `A new bridge over one of the ${topic}`,
]);

const { url, andante } = await serve({ agents: { researcher } });
await andante.schedules.trigger("researcher:mornings");
const { nextAt } = await andante.schedules.get("researcher:mornings");
console.log(
  `The next report is at ${nextAt}, one is written now: ${url}/console/schedules/researcher:mornings`,
);
