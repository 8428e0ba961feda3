// Every schema that the API description gives a name.
import { z } from "zod";
import * as agents from "./agent-schemas.ts";
import * as budgets from "./budget-schemas.ts";
import { type Component, shape } from "./component.ts";
import * as endpoints from "./endpoint-schemas.ts";
import * as events from "./event-schemas.ts";
import * as executions from "./execution-schemas.ts";
import * as logs from "./log-schemas.ts";
import * as overview from "./overview-schemas.ts";
import * as schedules from "./schedule-schemas.ts";
import * as traces from "./trace-schemas.ts";
import * as usage from "./usage.ts";
import * as reports from "./usage-schemas.ts";

export const components = shape(() => {
  const registry: z.core.$ZodRegistry<{ id: string }> = z.registry();
  const all = [
    agents,
    budgets,
    endpoints,
    events,
    executions,
    logs,
    overview,
    schedules,
    traces,
    usage,
    reports,
  ];
  for (const schemas of all)
    for (const each of Object.values(schemas)) if (isComponent(each)) registry.add(each(), { id: each.id });
  return registry;
});

function isComponent(value: unknown): value is Component {
  return typeof value === "function" && "id" in value;
}
