// Finds the Chromium of the browser tests: the one that an npm package carries, or one that is installed.
import { existsSync } from "node:fs";
import { type Browser, chromium as driver } from "playwright-core";

export type { Browser, Page } from "playwright-core";

// The npm package's binary is for Linux on x64 alone; started elsewhere, a shell would take it for a script.
const isPackaged = process.platform === "linux" && process.arch === "x64";

const installed = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => path !== undefined && existsSync(path));

/** True when there is a browser to test with. */
export const hasChromium: boolean = isPackaged || installed !== undefined;

/** The browser's path. */
export async function findChromium(): Promise<string> {
  if (installed !== undefined) return installed;
  if (!isPackaged) throw new Error("No Chromium for this platform: install one, or name it with CHROMIUM");
  const { default: chromium } = await import("@sparticuz/chromium");
  return chromium.executablePath();
}

/** Started with these, it reaches out for nothing by itself. */
export const browserFlags: string[] = [
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** For scripts: a test opens its own with `openBrowser`, which closes it. */
export async function launchChromium(): Promise<Browser> {
  return driver.launch({ executablePath: await findChromium(), args: browserFlags });
}
