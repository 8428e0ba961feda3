// The query parameters of an address: filters, the selected step, the open tab. Plain text, no JSON.
import type { SearchSchemaInput } from "@tanstack/react-router";

const names = [
  ...(["status", "workflowId", "userId", "tag", "id", "since", "step", "tab", "item", "chat"] as const),
  ...(["level", "executionId", "agentId", "text"] as const),
];

/** All parameters; each page reads its own. */
export type Search = { readonly [Name in (typeof names)[number]]?: string };

export function readSearch(given: Search & SearchSchemaInput): Search {
  const known = names.filter((name) => typeof given[name] === "string");
  return Object.fromEntries(known.map((name) => [name, given[name]]));
}

export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}
