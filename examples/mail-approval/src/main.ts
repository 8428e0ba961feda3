// Approval by mail: `npm start --workspace examples/mail-approval`, then open the link that would be in the mail.
import { serve } from "@andante/server";
import { publishWith } from "./publish.ts";

const publish = publishWith({
  mail: async ({ to, text }) => console.log(`A mail to ${to}:\n\n${text}\n`),
  publish: async (text) => console.log(`Published: ${text}`),
});

const port = Number(process.env.PORT ?? 3141);
const { url, andante } = await serve({
  ...{ workflows: { publish }, port },
  links: {
    url: process.env.PUBLIC_URL ?? `http://localhost:${port}`,
    secret: process.env.LINK_SECRET ?? "the secret of a demonstration: set your own",
  },
});
const { executionId } = await andante.start("publish", { text: "Rivers rise", editor: "ada@example.com" });
console.log(`The text, which waits for its editor: ${url}/console/executions/${executionId}`);
