// A support agent on the demo model: `npm start --workspace examples/chat-with-approval`, then chat in the console.
import { demoModel } from "@andante/demo-model";
import { serve } from "@andante/server";
import { supportWith } from "./support.ts";

const support = supportWith(demoModel({ delay: 30 }), {
  find: async (order) => ({ order, amount: 40, status: "shipped" }),
  refund: async (order, key) => console.log(`Paid back ${order} (${key})`),
});

const { url } = await serve({ agents: { support } });
console.log(`Ask for a refund of order A-1: ${url}/console/agents/support`);
