// A Chromium for a test, and pages in it that can reach nothing but this machine.
import { type Browser, chromium, type Page } from "playwright-core";
import { cleanup } from "../support/cleanup.ts";
import { browserFlags, findChromium } from "./find-chromium.ts";

/** Closed when the tests that it was opened for are over. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: await findChromium(), args: browserFlags });
  cleanup(() => browser.close());
  return browser;
}

/** A page in a context of its own; `complain` receives errors in it and requests that would leave this machine. */
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

/** The same in the size of the drawings; errors on the page's console are reported, too. */
export async function openWatchedPage(browser: Browser, complain: (what: string) => void): Promise<Page> {
  const page = await openPage(browser, complain);
  await page.setViewportSize({ width: 1440, height: 900 });
  page.on("console", (message) => {
    // A violation of the content security policy is one of these.
    const isNetwork = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isNetwork) complain(message.text());
  });
  return page;
}
