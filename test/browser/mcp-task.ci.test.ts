// A task of an MCP client whose server is killed: a person approves it in the console of the next process.
import path from "node:path";
import { expect, test } from "vitest";
import { mcpClient } from "../mcp/client.ts";
import { startServerProcess, temporaryDatabase } from "../support/server-process.ts";
import { eventually, openBrowser, openPage } from "./open-browser.ts";

const browser = await openBrowser();

test("a person approves the task of a killed server in the console, and the next poll is completed", async () => {
  const file = temporaryDatabase();
  const start = () => startServerProcess(path.join(import.meta.dirname, "../mcp/child.ts"), [file]);
  const first = await start();
  const client = mcpClient(first.url);
  const { taskId } = (await client.call("publish", { text: "hello" })).result;
  await expect.poll(async () => (await client.task(taskId)).result.status).toBe("input_required");
  await first.kill();
  const { url } = await start();
  const problems: string[] = [];
  const page = await openPage(browser, (problem) => problems.push(problem));
  await page.goto(`${url}/console/inbox`);
  await page.getByRole("heading", { name: "Publish this?" }).waitFor();
  await page.getByRole("radio", { name: "Yes" }).click();
  await page.getByRole("button", { name: "Answer and continue" }).click();
  await eventually(() => page.locator(".answered .pill").textContent()).toBe("completed");
  expect((await mcpClient(url).task(taskId)).result).toMatchObject({
    ...{ taskId, status: "completed" },
    result: { structuredContent: { text: "hello", approved: true, published: true } },
  });
  expect(problems).toEqual([]);
}, 180_000);
