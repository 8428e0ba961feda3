// A Chromium for a test, and pages in it that can reach nothing but this machine.
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core";
import { expect } from "vitest";
import { cleanup } from "../support/cleanup.ts";
import { browserFlags, findChromium } from "./find-chromium.ts";

/** Milliseconds for one event on a page. On a machine that does other work, the code of a page alone takes seconds. */
const patience = 60_000;

/**
 * Polls a page. Between an event and a look at it, React may replace the element or draw its value later: every assertion
 * about something that a page is to show goes through this.
 */
export const eventually = (look: () => unknown, message?: string) =>
  expect.poll(look, { interval: 20, timeout: patience, ...(message !== undefined && { message }) });

/** Closed when the tests that it was opened for are over. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: await findChromium(), args: browserFlags });
  cleanup(() => browser.close());
  return browser;
}

/** A page in a context of its own; `complain` receives errors in it and requests that would leave this machine. */
export async function openPage(
  browser: Browser,
  complain: (what: string) => void,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext(options);
  await context.route("**/*", (route) => {
    const { hostname } = new URL(route.request().url());
    // A page that is closed meanwhile has no use for it.
    if (hostname === "127.0.0.1") return route.continue().catch(() => undefined);
    complain(`a request for ${route.request().url()}`);
    return route.abort();
  });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  // Finds tests that depend on the speed of the machine: ANDANTE_SLOW_PAGES=12 makes the scripts of pages so many times slower.
  const { ANDANTE_SLOW_PAGES: rate } = process.env;
  if (rate !== undefined) {
    const session = await context.newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: Number(rate) });
  }
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

/** Whether an element is not cut off above or below by another one that scrolls. */
export async function isInside(inner: Locator, outer: Locator): Promise<boolean> {
  const [one, around] = [await inner.boundingBox(), await outer.boundingBox()];
  if (one === null || around === null) return false;
  return one.y >= around.y && one.y + one.height <= around.y + around.height;
}
