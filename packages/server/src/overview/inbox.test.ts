// The examples of an inbox: one for each schema, however many suspensions wait for the same kind of data.
import { createWorkflow, memoryStore } from "@andante/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { createApp } from "../app.ts";

const exampleValue = vi.hoisted(() => vi.fn());
vi.mock(import("@andante/core/internal/examples"), async (load) => {
  const original = await load();
  exampleValue.mockImplementation(original.exampleValue);
  return { ...original, exampleValue };
});

test("an example is made once for each schema of a page", async () => {
  const asking = (id: string, resumeSchema: z.ZodType) =>
    createWorkflow({ id, input: z.object({}) }).andThen({
      id: "ask",
      resumeSchema,
      execute: ({ resumeData, suspend }) => resumeData ?? suspend(id),
    });
  const workflows = {
    yes: asking("yes", z.object({ approved: z.boolean() })),
    sum: asking("sum", z.object({ amount: z.number() })),
  };
  const app = createApp({ workflows, store: memoryStore() });
  onTestFinished(() => app.close({ grace: 0 }));
  for (const id of ["yes", "sum", "yes", "yes", "sum"] as const) await app.andante.execute(id, {});
  const response = await app.fetch(new Request("http://localhost/api/inbox"));
  const body: unknown = await response.json();
  const approved = { suspension: { reason: "yes" }, example: { approved: expect.any(Boolean) } };
  const amount = { suspension: { reason: "sum" }, example: { amount: expect.any(Number) } };
  expect(body).toMatchObject({ data: { items: [approved, amount, approved, approved, amount] } });
  expect(exampleValue).toHaveBeenCalledTimes(2);
});
