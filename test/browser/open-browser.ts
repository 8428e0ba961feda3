// A Chromium for a test, and pages in it that can reach nothing but this machine.
import { type Browser, chromium, type Page } from "playwright-core";
import { afterwards } from "../support/afterwards.ts";
import { browserFlags, findChromium } from "./find-chromium.ts";

/** Closed when the tests that it was opened for are over. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: await findChromium(), args: browserFlags });
  afterwards(() => browser.close());
  return browser;
}

/** A page in a context of its own; `complain` is told of errors in it and of requests that would leave this machine. */
export async function openPage(browser: Browser, complain: (what: string) => void): Promise<Page> {
  const context = await browser.newContext();
  await context.route("**/*", (route) => {
    const { hostname } = new URL(route.request().url());
    if (hostname === "127.0.0.1") return route.continue();
    complain(`a request for ${route.request().url()}`);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => complain(String(error)));
  return page;
}
