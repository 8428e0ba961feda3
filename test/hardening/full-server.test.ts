// A full server over HTTP: starts are 503, a resume is accepted and its response comes when it has run.
import { expect, test } from "vitest";
import { gates } from "../support/gates.ts";
import { dataOf, errorOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

test("resumes wait for a slot, starts are refused with Retry-After", async () => {
  const server = await serveForTest({ limits: { running: 1 } });
  const suspended = async () =>
    String(
      dataOf(await server.post("/workflows/approval/execute", { input: { topic: "rivers" } })).executionId,
    );
  const [plain, early] = [await suspended(), await suspended()];
  const holding = server.post("/workflows/gated/execute", { input: { door: "full-server" } });
  await gates.arrival("full-server");

  const refused = await server.post("/workflows/sum/execute", { input: { a: 1 } });
  expect(errorOf(refused, 503)).toBe("Too many executions are running (limit 1), try again later");
  expect(refused.headers.get("retry-after")).toBe("1");

  const resume = (id: string, headers?: Record<string, string>) =>
    server.post(`/workflows/approval/executions/${id}/resume`, { resumeData: { approved: true } }, headers);
  const accepted = await resume(early, { prefer: "respond-async" });
  expect([accepted.status, dataOf(accepted, 202).status]).toEqual([202, "running"]);
  let responded = false;
  const waiting = resume(plain).finally(() => {
    responded = true;
  });
  // It is written at once: a second resume finds nothing that waits.
  const stateOf = async (id: string) =>
    dataOf(await server.get(`/workflows/approval/executions/${id}/state`)).status;
  await expect.poll(() => stateOf(plain)).toBe("running");
  expect((await resume(plain)).status).toBe(404);
  expect(responded).toBe(false);

  gates.open("full-server");
  expect((await holding).status).toBe(200);
  expect(dataOf(await waiting)).toMatchObject({ status: "completed", result: { approved: true } });
  await expect.poll(() => stateOf(early)).toBe("completed");
});
