// What the fuzzer runs against: the same workflows and agents behind three kinds of doors.
import { createWorkflow } from "@andante/core";
import type { WorkflowRecord } from "@andante/core/internal";
import type { AppOptions } from "@andante/server";
import { z } from "zod";
import { provider } from "../support/tokens.ts";
import { approval, everything, failing, foreign, mirror, sum, twice } from "../support/workflows.ts";

const quick = createWorkflow({ id: "quick", input: z.unknown() }).andThen({ id: "one", execute: () => 1 });

/** None of them waits for a door that only a test could open. */
export const workflows: WorkflowRecord = {
  sum,
  approval,
  twice,
  mirror,
  failing,
  foreign,
  everything,
  quick,
};

export const modes: Readonly<Record<string, Partial<AppOptions>>> = {
  "without authentication": {},
  "in opt-in mode": { auth: provider() },
  "in opt-out mode, with public and custom routes": {
    auth: provider({
      defaultPrivate: true,
      webSocket: "protect",
      publicRoutes: ["GET /workflows/*", "POST /workflows/:id/execute"],
    }),
    cors: { origin: "http://a.example", credentials: true },
    configureApp: (app) => {
      app.post("/custom", async (c) => c.json({ success: true, data: { got: await c.req.text() } }));
    },
  },
};
