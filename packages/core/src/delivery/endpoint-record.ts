// The row of an endpoint: its settings when it was set at run time, and how its deliveries fare.
import { randomUUID } from "node:crypto";
import type { StoredSchedule } from "../store/schedule-store.ts";
import { Fields } from "../values/fields.ts";
import { type EndpointSettings, endpointTypes } from "./endpoint-options.ts";

export interface KeptSecret {
  readonly secret: string;
  /** When it no longer signs; null while it is the newest. */
  readonly until: number | null;
}

export interface EndpointState {
  readonly state: "active" | "disabled";
  /** Why it is disabled. */
  readonly note: string | null;
  /** The time of the first of its failures in a row. */
  readonly failingSince: number | null;
}

/** Of one that is declared in code the row has only its state. */
export interface EndpointRecord extends EndpointState {
  readonly settings: (EndpointSettings & { readonly secrets: readonly KeptSecret[] }) | null;
}

export const newState: EndpointState = { state: "active", note: null, failingSince: null };

/** The id of the row: no schedule has a "/". */
export const endpointPrefix = "e/";

export function endpointRow(endpointId: string, record: EndpointRecord): StoredSchedule {
  return {
    ...{
      scheduleId: endpointPrefix + endpointId,
      kind: "endpoint",
      workflowId: "",
      agentId: null,
      userId: null,
      dueAt: null,
    },
    ...{ version: randomUUID(), body: JSON.stringify(record), occurrences: "[]" },
  };
}

const damaged = (problem: string) => new TypeError(`An endpoint: ${problem}`);

export function readEndpoint(body: string): EndpointRecord {
  const fields = Fields.parse(body, damaged);
  const settings = fields.value("settings") === null ? undefined : fields.object("settings");
  return {
    state: fields.text("state") === "disabled" ? "disabled" : "active",
    note: fields.optionalText("note") ?? null,
    failingSince: fields.optionalNumber("failingSince") ?? null,
    settings: settings ? readSettings(settings) : null,
  };
}

function readSettings(fields: Fields): NonNullable<EndpointRecord["settings"]> {
  const texts = (name: string) => {
    const list = fields.value(name);
    return Array.isArray(list) ? list.filter((each) => typeof each === "string") : undefined;
  };
  const secrets = fields.value("secrets");
  const on = texts("on");
  return {
    url: fields.text("url"),
    on: on && endpointTypes.filter((type) => on.includes(type)),
    workflows: texts("workflows"),
    content: fields.optionalText("content") === "full" ? "full" : "thin",
    secrets: (Array.isArray(secrets) ? secrets : []).map((each: unknown) => {
      const kept = new Fields(each, damaged);
      return { secret: kept.text("secret"), until: kept.optionalNumber("until") ?? null };
    }),
  };
}
