// Metrics of the process, under the names that dashboards for Node know.
import { readdirSync } from "node:fs";
import { type MetricFamily, ReadMetric } from "./metric-families.ts";

const openFiles = "/proc/self/fd";

export function processMetrics(): MetricFamily[] {
  const startedAt = (Date.now() - process.uptime() * 1000) / 1000;
  const one = (name: string, help: string, read: () => number, type?: "counter") =>
    new ReadMetric(name, help, () => [{ value: read() }], type);
  const seconds = (microseconds: number) => microseconds / 1e6;
  return [
    one(
      "process_cpu_user_seconds_total",
      "Processor time of the program, in seconds",
      () => seconds(process.cpuUsage().user),
      "counter",
    ),
    one(
      "process_cpu_system_seconds_total",
      "Processor time of the system on its behalf, in seconds",
      () => seconds(process.cpuUsage().system),
      "counter",
    ),
    one(
      "process_cpu_seconds_total",
      "Processor time, in seconds",
      () => {
        const { user, system } = process.cpuUsage();
        return seconds(user + system);
      },
      "counter",
    ),
    one("process_start_time_seconds", "When the process started, in seconds since 1970", () => startedAt),
    one("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss()),
    new ReadMetric("process_open_fds", "Open files and connections, where the system tells", () => {
      const count = countOpenFiles();
      return count === undefined ? [] : [{ value: count }];
    }),
    one("nodejs_heap_size_total_bytes", "Size of the heap", () => process.memoryUsage().heapTotal),
    one("nodejs_heap_size_used_bytes", "What of the heap is in use", () => process.memoryUsage().heapUsed),
    one("nodejs_external_memory_bytes", "Memory outside the heap", () => process.memoryUsage().external),
    new ReadMetric("nodejs_version_info", "The version of Node", () => [
      { labels: { version: process.version }, value: 1 },
    ]),
  ];
}

function countOpenFiles(): number | undefined {
  try {
    return readdirSync(openFiles).length;
  } catch {
    return undefined;
  }
}
