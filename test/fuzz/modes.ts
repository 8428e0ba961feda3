// The servers of the fuzzer: the same workflows and agents behind three kinds of authentication.
import { createWorkflow } from "@andante/core";
import type { WorkflowRecord } from "@andante/core/internal";
import type { AppOptions } from "@andante/server";
import { z } from "zod";
import { provider } from "../support/tokens.ts";
import { approval, everything, failing, foreign, mirror, sum, twice } from "../support/workflows.ts";

const quick = createWorkflow({ id: "quick", input: z.unknown() }).andThen({ id: "one", execute: () => 1 });

/** Lists, records and trees of callers, and every way for their elements to be wrong. */
const tree: z.ZodType<unknown> = z.lazy(() => z.union([z.number(), z.array(tree)]));
const sizes = createWorkflow({
  id: "sizes",
  input: z
    .object({
      unions: z.array(z.union([z.string(), z.object({ a: z.number(), b: z.string() }), z.boolean()])),
      texts: z.array(z.string().min(3)),
      numbers: z.array(z.number().max(0)),
      record: z.record(z.string(), z.number()),
      strict: z.strictObject({}),
      email: z.email(),
      tree,
      any: z.unknown(),
    })
    .partial(),
}).andThen({ id: "count", execute: ({ data }) => Object.keys(data).length });

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
  sizes,
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
