// Serves the agent and the workflow over HTTP, with the console.
import { serve } from "@andante/server";
import { publish } from "./publish.ts";
import { writer } from "./writer.ts";

const server = await serve({ agents: { writer }, workflows: { publish } });
console.log(`Console: ${server.url}/console`);
