// Metrics of the process, under the names that dashboards for Node know.
import { readdirSync, readFileSync } from "node:fs";
import { getHeapSpaceStatistics } from "node:v8";
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
    one("process_start_time_seconds", "Start of the process, in seconds since 1970", () => startedAt),
    one("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss()),
    new ReadMetric("process_open_fds", "Open files and connections, if available", () => {
      const count = countOpenFiles();
      return count === undefined ? [] : [{ value: count }];
    }),
    new ReadMetric("process_max_fds", "Limit of open files and connections, if available", () => {
      const limit = Number(/^Max open files +(\d+)/m.exec(readOf("/proc/self/limits"))?.[1]);
      return Number.isNaN(limit) ? [] : [{ value: limit }];
    }),
    new ReadMetric("process_virtual_memory_bytes", "Virtual memory, if available", () => {
      const kibibytes = Number(/^VmSize:\s+(\d+) kB/m.exec(readOf("/proc/self/status"))?.[1]);
      return Number.isNaN(kibibytes) ? [] : [{ value: kibibytes * 1024 }];
    }),
    one("nodejs_heap_size_total_bytes", "Size of the heap", () => process.memoryUsage().heapTotal),
    one("nodejs_heap_size_used_bytes", "Used part of the heap", () => process.memoryUsage().heapUsed),
    one("nodejs_external_memory_bytes", "Memory outside the heap", () => process.memoryUsage().external),
    new ReadMetric("nodejs_heap_space_size_used_bytes", "Used part of each space of the heap", () =>
      getHeapSpaceStatistics().map(({ space_name, space_used_size }) => ({
        labels: { space: space_name.replace(/_space$/, "") },
        value: space_used_size,
      })),
    ),
    new ReadMetric("nodejs_active_resources", "Resources that keep the process alive, by type", () => {
      const counts = new Map<string, number>();
      for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
      return [...counts].map(([type, value]) => ({ labels: { type }, value }));
    }),
    one(
      "nodejs_eventloop_busy_seconds_total",
      "Time that the event loop of the main thread was busy, in seconds",
      () => performance.eventLoopUtilization().active / 1000,
      "counter",
    ),
    new ReadMetric("nodejs_version_info", "The version of Node", () => [
      { labels: { version: process.version }, value: 1 },
    ]),
  ];
}

/** The text of a file of the system; empty where there is none. */
function readOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function countOpenFiles(): number | undefined {
  try {
    return readdirSync(openFiles).length;
  } catch {
    return undefined;
  }
}
