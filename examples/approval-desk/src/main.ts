// The approval desk: `npm start --workspace examples/approval-desk`, then decide in the console's inbox.
import { serve } from "@andante/server";
import { expenseWith } from "./expense.ts";

const expense = expenseWith(async ({ to, amount, key }) => {
  console.log(`Paid ${amount} to ${to} (${key})`);
  return `receipt for ${to}`;
});

const { url, andante } = await serve({ workflows: { expense } });
await andante.start("expense", { to: "Ada", amount: 240, what: "a train to the conference" });
console.log(`What waits for you: ${url}/console/inbox`);
