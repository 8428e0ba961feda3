// The query parameters of an address: filters, the selected step, the open tab. Plain text, no JSON.
import { type SearchSchemaInput, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";

const names = [
  ...([
    "status",
    "workflowId",
    "userId",
    "tag",
    "id",
    "since",
    "replayOf",
    "parked",
    "step",
    "event",
    "tab",
    "item",
    "by",
    "sort",
    "chat",
    "name",
    "key",
    "group",
  ] as const),
  ...(["level", "executionId", "agentId", "text"] as const),
];

/** All parameters; each page reads its own. An undefined or empty one is not part of the address. */
export type Search = { readonly [Name in (typeof names)[number]]?: string | undefined };

export function readSearch(given: Search & SearchSchemaInput): Search {
  return knownSearch(given);
}

/** The known parameters with a text among other fields. */
export function knownSearch(given: Readonly<Record<string, unknown>>): Search {
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

/** Changes some parameters of the current address; `replace`: without another entry in the history. */
export function useSearchChange({ replace = true } = {}): (change: Search) => void {
  const navigate = useNavigate();
  return useCallback(
    (change) => void navigate({ to: ".", search: (before: Search) => ({ ...before, ...change }), replace }),
    [navigate, replace],
  );
}
