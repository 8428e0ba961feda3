// The order of the pages in the side bar. A page that is not here has no place in it; a test holds the list complete.

export interface Group {
  readonly text: string;
  /** Paths of pages below docs, without `.md`. */
  readonly pages: readonly string[];
}

export const groups: readonly Group[] = [
  { text: "Begin", pages: ["getting-started", "tour"] },
  {
    text: "Guide",
    pages: [
      "workflows",
      "waiting-for-people",
      "links",
      "agents",
      "ui-messages",
      "console",
      "http",
      "client",
      "mcp",
      "a2a",
      "embedding",
    ],
  },
  {
    text: "Production",
    pages: [
      "authentication",
      "observability",
      "schedules",
      "events",
      "webhooks",
      "costs",
      "operating",
      "deploying",
      "upgrading",
      "postgres",
      "postgres-compatible",
      "restate",
      "scale",
      "performance",
    ],
  },
  { text: "Testing and errors", pages: ["testing", "errors"] },
];
