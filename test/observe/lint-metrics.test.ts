// /metrics holds to the rules of `promtool check metrics` after any events.
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { startApproval, startGated } from "../support/executions.ts";
import { gates } from "../support/gates.ts";
import { installedProgram } from "../support/installed-program.ts";
import { lintMetrics, metricNames } from "../support/lint-metrics.ts";
import { textOf } from "../support/responses.ts";
import { serveForTest } from "../support/serve-for-test.ts";

async function metricsOfBusyServer(): Promise<string> {
  const server = await serveForTest();
  await server.post("/workflows/sum/execute", { input: { a: 1 } });
  await server.post("/workflows/failing/execute", { input: {} });
  await server.post("/agents/echo/text", { input: "Hello" });
  const id = textOf(await startApproval(server), "executionId");
  await server.post(`/workflows/approval/executions/${id}/resume`, { resumeData: { approved: true } });
  await startGated(server, "lint");
  await server.get("/nowhere");
  const { text } = await server.get("/metrics");
  gates.open("lint");
  return text;
}

test("the metrics of a busy server have nothing that promtool, or our list of its rules, finds fault with", async () => {
  const text = await metricsOfBusyServer();
  expect(lintMetrics(text)).toEqual([]);
  const promtool = installedProgram("promtool");
  if (promtool !== undefined)
    expect(execFileSync(promtool, ["check", "metrics"], { input: text }).length).toBe(0);
  const names = [...metricNames(text)];
  for (const prefix of ["andante_", "process_", "nodejs_"])
    expect(names.filter((name) => name.startsWith(prefix)).length).toBeGreaterThan(5);
});

describe("the list of rules finds", () => {
  const described = (name: string, type: string) => `# HELP ${name} What it is\n# TYPE ${name} ${type}\n`;
  test.each([
    ["a counter without _total", `${described("jobs", "counter")}jobs 1\n`, "_total"],
    ["a gauge with _total", `${described("jobs_total", "gauge")}jobs_total 1\n`, "_total"],
    [
      "a gauge by quantile",
      `${described("delay_seconds", "gauge")}delay_seconds{quantile="1"} 1\n`,
      "quantile",
    ],
    ["a gauge with le", `${described("size_bytes", "gauge")}size_bytes{le="1"} 1\n`, '"le"'],
    ["no help text", "# TYPE jobs gauge\njobs 1\n", "no help"],
    ["no type", "# HELP jobs Jobs\njobs 1\n", 'the type is ""'],
    ["another unit", `${described("wait_milliseconds", "gauge")}wait_milliseconds 1\n`, "base unit"],
    ["a short unit", `${described("wait_ms", "gauge")}wait_ms 1\n`, "abbreviated"],
    ["camel case", `${described("jobsRunning", "gauge")}jobsRunning 1\n`, "snake_case"],
    ["a type in a name", `${described("jobs_gauge", "gauge")}jobs_gauge 1\n`, "include type"],
    ["two values of one series", `${described("jobs", "gauge")}jobs 1\njobs 2\n`, "two values"],
    ["a sample of no metric", "jobs 1\n", "of no metric"],
    ["a broken line", `${described("jobs", "gauge")}jobs{a=b} 1\n`, "not a line"],
    [
      "buckets that shrink",
      `${described("x_seconds", "histogram")}x_seconds_bucket{le="1"} 2\nx_seconds_bucket{le="+Inf"} 1\nx_seconds_sum 1\nx_seconds_count 1\n`,
      "smaller",
    ],
  ])("%s", (_, text, problem) => {
    expect(lintMetrics(text).join("\n")).toContain(problem);
  });
});
