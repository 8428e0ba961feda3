// Measures the console in a real Chromium: the load and start of Home and of the API page, a large graph, a long journal
// and the steps through it, a long trace, a list over many executions, and pages while executions start and end; and the
// search in values behind it.
import path from "node:path";
import { gzipSync } from "node:zlib";
import { createLogger, sqliteStore } from "@andante/core";
import { serve } from "@andante/server";
import { z } from "zod";
import { buildConsole } from "../../scripts/build-console.mjs";
import { type Browser, launchChromium, type Page } from "../../test/browser/find-chromium.ts";
import { inTemporaryFolder, median, percentile, throughput } from "../measure.ts";
import { isRecorded, paced } from "../pace.ts";
import { type Budget, printBudgets, recordBudgets } from "../results.ts";
import { atMost } from "../slowness.ts";
import { journal, one, wide } from "./workflows.ts";

const executions = paced({ quick: 2000, short: 100_000, full: 100_000 });
const rounds = paced({ quick: 3, short: 5, full: 9 });
/** Events of the journal that is walked through, and steps of the walk. */
const walkedEvents = paced({ quick: 8000, short: 80_000, full: 80_000 });
const walkedSteps = 20;
/** Executions that start in a second while a page is open, and for how many seconds. */
const feedRate = 50;
const feedSeconds = paced({ quick: 5, short: 20, full: 60 });
/** Searches of each kind. */
const searches = 20;
/** As many as are read of a trace. */
const spans = 10_000;
const viewport = { width: 1440, height: 900 };

const problem = buildConsole(process.execPath);
if (problem !== undefined) throw new Error(`The console could not be built: ${problem}`);

/** A page in a context of its own: nothing is cached. */
async function inNewPage<T>(browser: Browser, work: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport });
  try {
    const page = await context.newPage();
    // A page that exceeds its budget is measured, not given up.
    page.setDefaultTimeout(120_000);
    return await work(page);
  } finally {
    await context.close();
  }
}

/** The median of several rounds, in milliseconds. */
async function timed(
  browser: Browser,
  work: (page: Page) => Promise<() => Promise<unknown>>,
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await inNewPage(browser, async (page) => {
      const measured = await work(page);
      const start = performance.now();
      await measured();
      times.push(performance.now() - start);
    });
  }
  return median(times);
}

function home(browser: Browser, url: string): Promise<number> {
  return timed(browser, async (page) => async () => {
    await page.goto(`${url}/console`);
    await page.locator(".recent tbody tr, .home table tbody tr").first().waitFor();
    await page.getByRole("link", { name: "Run a workflow" }).waitFor();
  });
}

/** Bytes of scripts and styles that Home loads, compressed as the server sends them. */
function homeBytes(browser: Browser, url: string): Promise<number> {
  return inNewPage(browser, async (page) => {
    const bodies: Promise<Buffer>[] = [];
    page.on("response", (response) => {
      if (/\.(js|css)$/.test(new URL(response.url()).pathname)) bodies.push(response.body());
    });
    await page.goto(`${url}/console`);
    await page.locator(".home table tbody tr").first().waitFor();
    await page.waitForLoadState("load");
    return (await Promise.all(bodies)).reduce((sum, body) => sum + gzipSync(body).length, 0);
  });
}

/** From the click that opens the workflow; the code of the graph is there, from another workflow before. */
function largeGraph(browser: Browser, url: string): Promise<number> {
  return timed(browser, async (page) => {
    await page.goto(`${url}/console/workflows/one`);
    await page.locator(".step-node").first().waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Workflows" }).click();
    const link = page.getByRole("link", { name: /wide/ }).first();
    await link.waitFor();
    return async () => {
      await link.click();
      await page.locator(".step-node").nth(199).waitFor({ state: "attached" });
    };
  });
}

function longJournal(browser: Browser, url: string, executionId: string, events: number): Promise<number> {
  return timed(browser, async (page) => {
    await page.goto(`${url}/console/executions`);
    await page.locator(".grid-row").first().waitFor();
    return async () => {
      await page.goto(`${url}/console/executions/${executionId}`);
      await page.locator(".event").first().waitFor();
      await page.getByText(String(events)).first().waitFor();
    };
  });
}

function longTrace(browser: Browser, url: string, traceId: string): Promise<number> {
  return timed(browser, async (page) => {
    await page.goto(`${url}/console/traces`);
    await page.locator("tbody tr").first().waitFor();
    return async () => {
      await page.goto(`${url}/console/traces/${traceId}`);
      await page.locator(".fall-row").first().waitFor();
      await page.getByLabel("Selected span").waitFor();
    };
  });
}

/** Runs in the page: scrolls a little in each frame, and returns the times between them. */
const scrolling = `(async () => {
  const list = document.querySelector(".grid");
  const frames = [];
  for (let last = performance.now(); frames.length < 300; ) {
    const now = await new Promise((resolve) => requestAnimationFrame(resolve));
    frames.push(now - last);
    last = now;
    list.scrollTop += 200;
  }
  return frames;
})()`;

/** Frames while the list is scrolled through several of its pages: the times between them. */
function scrolledList(browser: Browser, url: string): Promise<readonly number[]> {
  return inNewPage(browser, async (page) => {
    await page.goto(`${url}/console/executions`);
    await page.locator(".grid-row").first().waitFor();
    return z.array(z.number()).parse(await page.evaluate(scrolling));
  });
}

function apiPage(browser: Browser, url: string): Promise<number> {
  return timed(browser, async (page) => async () => {
    await page.goto(`${url}/console/api`);
    await page.locator(".operation").first().waitFor();
  });
}

const found = z.object({ data: z.object({ executions: z.array(z.unknown()) }) });

/** The slowest of searches for a value of few executions, a beginning that thousands have, and one that none has. */
async function slowestSearch(url: string): Promise<number> {
  const search = async (text: string) => {
    const response = await fetch(`${url}/api/search?text=${text}`);
    return found.parse(await response.json()).data.executions.length;
  };
  const last = String(executions - 1);
  // The index is made in the background, in the order of the starts.
  while ((await search(last)) === 0) await new Promise((resolve) => setTimeout(resolve, 500));
  const medians: number[] = [];
  for (const text of [last, last.slice(0, 3), "nothing"]) {
    const times: number[] = [];
    for (let call = 0; call < searches; call++) {
      const start = performance.now();
      await search(text);
      times.push(performance.now() - start);
    }
    medians.push(median(times));
  }
  return Math.max(...medians);
}

/** Seconds of the page's main thread since it began: in all its tasks, and in its scripts. */
async function meter(page: Page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    const secondsOf = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    return { tasks: secondsOf("TaskDuration"), scripts: secondsOf("ScriptDuration") };
  };
}

/** Milliseconds of script for a step from one event to the next. */
function walkedJournal(browser: Browser, url: string, executionId: string): Promise<number> {
  return inNewPage(browser, async (page) => {
    await page.goto(`${url}/console/executions/${executionId}`);
    await page.locator(".event").first().waitFor();
    await page.keyboard.press("k");
    const read = await meter(page);
    const before = await read();
    for (let step = 0; step < walkedSteps; step++) await page.keyboard.press("k");
    return ((await read()).scripts - before.scripts) * (1000 / walkedSteps);
  });
}

/** Runs in the page: collects the lengths of tasks over 50 ms. */
const watchTasks = `
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longTasks.push(duration);
  }).observe({ type: "longtask" });
`;

/** The part of the time in which the page's main thread is busy while executions start and end, and its longest task. */
function underFeed(browser: Browser, url: string, path: string, start: () => Promise<unknown>) {
  return inNewPage(browser, async (page) => {
    await page.goto(`${url}/console${path}`);
    await page.locator(".home table tbody tr, .grid-row").first().waitFor();
    // The feed of changes stays open: the network is never idle.
    await page.waitForTimeout(1000);
    const read = await meter(page);
    await page.evaluate(watchTasks);
    const before = await read();
    const began = performance.now();
    for (let started = 0; started < feedRate * feedSeconds; started++) {
      const due = began + (started * 1000) / feedRate;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      await start();
    }
    const busy = ((await read()).tasks - before.tasks) / ((performance.now() - began) / 1000);
    const tasks = z.array(z.number()).parse(await page.evaluate("window.longTasks"));
    return { busy, longest: Math.max(0, ...tasks), count: tasks.length };
  });
}

const milliseconds = (time: number) => `${time.toFixed(0)} ms`;

await inTemporaryFolder(async (folder) => {
  const server = await serve({
    workflows: { one, wide, journal },
    store: sqliteStore({ path: path.join(folder, "console.db") }),
    logger: createLogger({ level: "silent" }),
    port: 0,
    handleSignals: false,
  });
  const { andante, url } = server;
  await throughput(executions, 200, (n) => andante.execute("one", { n }));
  const long = await andante.execute("journal", { items: 4997 });
  const [last] = (await andante.events("journal", long.executionId, { after: 9990, limit: 100 })).slice(-1);
  const events = Number(last?.sequence);
  const walked = await andante.execute("journal", { items: walkedEvents / 2 });
  // A span for each item, and those of the execution and its two steps.
  const { executionId } = await andante.execute("journal", { items: spans - 3 });
  const { traces } = await andante.traces.list({ executionId });
  const traceId = traces[0]?.traceId ?? "";
  const browser = await launchChromium();
  try {
    const bytes = await homeBytes(browser, url);
    const usable = await home(browser, url);
    const graph = await largeGraph(browser, url);
    const opened = await longJournal(browser, url, long.executionId, events);
    const traced = await longTrace(browser, url, traceId);
    const frames = await scrolledList(browser, url);
    const api = await apiPage(browser, url);
    const searched = await slowestSearch(url);
    const step = await walkedJournal(browser, url, walked.executionId);
    const begin = () => andante.start("one", { n: 1 });
    const fed = {
      Home: await underFeed(browser, url, "", begin),
      Executions: await underFeed(browser, url, "/executions", begin),
    };
    const late = percentile(frames, 0.95);
    const count = executions.toLocaleString("en").replaceAll(",", " ");
    const budgets: Budget[] = [
      {
        name: "Home's scripts and styles, compressed",
        value: `${(bytes / 1000).toFixed(0)} KB`,
        budget: "at most 300 KB",
        held: bytes <= 300_000,
      },
      {
        name: `Home, from nothing to usable, with ${count} executions in the store`,
        value: milliseconds(usable),
        ...atMost(usable, 1000, "ms"),
        note: `median of ${rounds}`,
      },
      {
        name: "a graph of 200 steps, from the click",
        value: milliseconds(graph),
        ...atMost(graph, 500, "ms"),
      },
      {
        name: `a run with ${events} events, from nothing to its graph and its events`,
        value: milliseconds(opened),
        ...atMost(opened, 1000, "ms"),
      },
      {
        name: `a trace of ${spans} spans, from nothing to its waterfall`,
        value: milliseconds(traced),
        ...atMost(traced, 1000, "ms"),
      },
      {
        name: `scrolling a list of ${count} executions, p95 of the time between frames`,
        value: milliseconds(late),
        budget: "at most 34 ms",
        held: late <= 34,
        note: `the longest of ${frames.length}: ${milliseconds(Math.max(...frames))}`,
      },
      {
        name: "the API page, from nothing to its operations",
        value: milliseconds(api),
        ...atMost(api, 2000, "ms"),
      },
      {
        name: `the slowest kind of search in the values of ${count} executions, over HTTP`,
        value: milliseconds(searched),
        budget: "under 100 ms",
        held: searched < 100,
        note: `median of ${searches}`,
      },
      {
        name: `a step through ${walkedEvents} events, script`,
        value: `${step.toFixed(1)} ms`,
        budget: "under 16 ms",
        held: step < 16,
        note: `mean of ${walkedSteps}`,
      },
      ...Object.entries(fed).map(([name, { busy, longest, count: long }]) => ({
        name: `${name} while ${feedRate} executions a second start and end: busy part of the main thread`,
        value: `${(busy * 100).toFixed(0)} %`,
        budget: "under 30 %, no task over 200 ms",
        held: busy < 0.3 && longest <= 200,
        note: `longest task ${milliseconds(longest)}, ${long} over 50 ms in ${feedSeconds} s`,
      })),
    ];
    printBudgets("Console", budgets);
    if (isRecorded) recordBudgets("Console", "npm run bench:console", budgets);
    if (budgets.some(({ held }) => !held)) process.exitCode = 1;
  } finally {
    await browser.close();
    await server.close();
  }
});
