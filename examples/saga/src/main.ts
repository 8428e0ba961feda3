// Books a trip to a place without cars: `npm start --workspace examples/saga`.
import { serve } from "@andante/server";
import { tripWith } from "./trip.ts";

const trip = tripWith({
  async book(part, key) {
    if (part === "car") throw new Error("no cars on this island");
    console.log(`Booked the ${part} (${key})`);
    return `${part}-1`;
  },
  async cancel(part, key) {
    console.log(`Cancelled the ${part} (${key})`);
  },
});

const { url, andante } = await serve({ workflows: { trip } });
const { executionId } = await andante.execute("trip", { to: "Sark" });
console.log(`What happened: ${url}/console/executions/${executionId}`);
