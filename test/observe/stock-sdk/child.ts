// A server without a line about OpenTelemetry. Arguments: the database file, and an address that steps and tools fetch.
import { createLogger, createWorkflow, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { z } from "zod";
import { weatherAgent, weatherWorkflow } from "../../support/weather-workflow.ts";

const [path = "", upstream = ""] = process.argv.slice(2);
const ask = async (place: string) => await (await fetch(`${upstream}/${place}`)).text();

const steps = createWorkflow({ id: "steps", input: z.unknown() })
  .andThen({ id: "first", execute: () => ask("first") })
  .andThen({
    id: "wait",
    execute: ({ suspend, resumeData }) => (resumeData === undefined ? suspend("approval") : "approved"),
  })
  .andThen({ id: "last", execute: () => ask("last") });

const lookUp = () => ask("tool");
const { url } = await serve({
  workflows: { steps, forecast: weatherWorkflow({ lookUp }) },
  agents: { forecaster: weatherAgent({ lookUp }) },
  store: sqliteStore({ path }),
  port: 0,
  hostname: "127.0.0.1",
  logger: createLogger({ level: "warn", format: "json", destination: process.stderr }),
});
process.stdout.write(`${url}\n`);
