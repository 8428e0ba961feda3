// The cost of the next occurrence, beside that of one formatted date: the least that an offset of `Intl` costs.
import { patternOf } from "../../packages/core/src/schedule/occurrences.ts";
import { median } from "../measure.ts";
import type { Budget } from "../results.ts";

const patterns = ["30 2 * * *", "*/15 * * * *", "0 9 * * mon-fri", "0 9 L * *", "30 2 1 * *"];
const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"];
const start = Date.UTC(2027, 0);
const count = 2000;

export function nextTimes(): Budget[] {
  const costs = patterns.flatMap((cron) =>
    zones.map((zone) => {
      const pattern = patternOf({ cron, zone, from: null, to: null });
      const walk = () => {
        let at = start;
        for (let index = 0; index < count; index++) at = pattern.next(at) ?? start;
      };
      walk();
      return { name: `${cron} in ${zone}`, cost: microseconds(walk) / count };
    }),
  );
  const format = new Intl.DateTimeFormat("en-US", { timeZone: "Europe/Berlin", timeStyle: "medium" });
  const floor = microseconds(() => {
    for (let index = 0; index < count; index++) format.format(start + index * 60_000);
  });
  const dearest = costs.reduce((one, other) => (other.cost > one.cost ? other : one));
  return [
    {
      name: "the next occurrence, any pattern and zone",
      value: `${dearest.cost.toFixed(1)} µs at most, ${median(costs.map(({ cost }) => cost)).toFixed(1)} µs in the median`,
      budget: "at most 30 µs",
      held: dearest.cost <= 30,
      note: `the dearest: ${dearest.name}; a formatted date takes ${(floor / count).toFixed(1)} µs`,
    },
  ];
}

/** Of the processor, the least of several runs. */
function microseconds(work: () => void): number {
  const runs = Array.from({ length: 7 }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...runs);
}
