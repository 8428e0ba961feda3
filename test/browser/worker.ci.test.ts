// The client in a web worker of a real Chromium.
import { expect, test } from "vitest";
import { expected } from "../client/tour.ts";
import { serveForTest } from "../support/serve-for-test.ts";
import { buildPage } from "./build-page.ts";
import { eventually, openBrowser, openPage } from "./open-browser.ts";

test("it starts, streams, leaves and is refused as everywhere", async () => {
  const [files, browser] = await Promise.all([buildPage("/page/", "worker-page"), openBrowser()]);
  const server = await serveForTest({
    configureApp: (app) => {
      app.get("/page/:file{.+}", (http) => {
        const file = files.get(http.req.param("file"));
        return file === undefined
          ? http.notFound()
          : http.body(file.content, 200, { "content-type": file.contentType });
      });
    },
  });
  // The refusal that the tour asks for is a line of the browser's too.
  const page = await openPage(browser, () => undefined);
  await page.goto(`${server.url}/page/index.html`);
  const seen = () => page.locator("#seen").textContent();
  await eventually(seen).not.toBe("");
  expect(JSON.parse((await seen()) ?? "")).toEqual(expected);
  await page.context().close();
});
