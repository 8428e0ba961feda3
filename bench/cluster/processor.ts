// The processor time of this process and all that it has started, by Linux's own account.
import { readdirSync, readFileSync } from "node:fs";

/** Linux counts in hundredths of a second. */
const tick = 10;

/** Milliseconds so far; undefined on other systems. */
export function processorTime(): number | undefined {
  if (process.platform !== "linux") return undefined;
  const all = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        const stat = read(`/proc/${pid}/stat`);
        // The name may hold spaces and brackets.
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const times = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
        return stat === "" ? [] : [[Number(pid), { parent: Number(fields[1]), time: times * tick }] as const];
      }),
  );
  const isOurs = (pid: number): boolean => {
    if (pid === process.pid) return true;
    const parent = all.get(pid)?.parent ?? 0;
    return parent > 1 && isOurs(parent);
  };
  return [...all].reduce((sum, [pid, { time }]) => sum + (isOurs(pid) ? time : 0), 0);
}

/** Empty when the process has ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
