// Digests a page of this repository with the demo model: `npm start --workspace examples/document-pipeline`.
import { readFile } from "node:fs/promises";
import { demoModel } from "@andante/demo-model";
import { serve } from "@andante/server";
import { pipelineWith } from "./pipeline.ts";

const digest = pipelineWith(demoModel(), {
  read: (address, signal) => readFile(new URL(address, import.meta.url), { encoding: "utf8", signal }),
  keep: async (key, summary) => console.log(`${key}: ${summary}`),
});

const { url, andante } = await serve({ workflows: { digest } });
const { executionId } = await andante.start("digest", { address: "../../../docs/workflows.md" });
console.log(`How it goes: ${url}/console/executions/${executionId}`);
