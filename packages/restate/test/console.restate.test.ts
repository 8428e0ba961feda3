// The console of a node on Restate, in a real Chromium: the store, the nodes, and executions of the other node.
import { createWorkflow } from "@andante/core";
import { RecordingLogger } from "@andante/core/test";
import { restateStore } from "@andante/restate";
import { serve } from "@andante/server";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { eventually, openBrowser, openWatchedPage } from "../../../test/browser/open-browser.ts";
import { startRestate } from "./restate-server.ts";

const server = await startRestate();
afterAll(() => server.remove());

const gate = createWorkflow({ id: "gate", input: z.object({ order: z.string() }) }).andThen({
  id: "ask",
  execute: ({ data, suspend, resumeData }) => resumeData ?? suspend(`Ship ${data.order}?`),
});

test("the store and its nodes are shown, and an execution of the other node is found and answered", async () => {
  const node = async (port: number) => {
    const store = restateStore(server.options("console", port));
    const served = await serve({
      workflows: { gate },
      store,
      port: 0,
      handleSignals: false,
      logger: new RecordingLogger(),
    });
    onTestFinished(() => served.close());
    return served;
  };
  const [first, second] = [await node(server.ports[0]), await node(server.ports[1])];
  const { executionId } = await second.andante.execute("gate", { order: "ord_77120" });
  const complaints: string[] = [];
  const page = await openWatchedPage(await openBrowser(), (problem) => complaints.push(problem));
  await page.goto(`${first.url}/console/nodes`);
  await eventually(() => page.locator(".nodes tbody tr").count()).toBe(2);
  await eventually(() => page.locator("body").textContent()).toContain(new URL(server.ingressUrl).host);
  await page.goto(`${first.url}/console/inbox`);
  await eventually(() => page.locator(".inbox-item").allTextContents()).toEqual([
    expect.stringContaining("Ship ord_77120?"),
  ]);
  await page.goto(`${first.url}/console/executions?search=ord_77120`);
  await page.getByText(executionId.slice(0, 8)).first().waitFor();
  await page.context().close();
  expect(complaints).toEqual([]);
});
