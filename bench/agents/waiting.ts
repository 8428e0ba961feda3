// The memory that replies hold while they wait for a person: in the process in which they began, and in one that opens their
// file.
import { execFileSync } from "node:child_process";
import path from "node:path";
import { median } from "../measure.ts";
import { paced } from "../pace.ts";
import type { Budget } from "../results.ts";

const replies = paced({ quick: 500, short: 2000, full: 2000 });
const rounds = paced({ quick: 1, short: 1, full: 3 });

export function waitingReplies(folder: string): Budget[] {
  const began: number[] = [];
  const opened: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const many = path.join(folder, `waiting-${round}.db`);
    began.push(megabytes("begin", many, replies));
    const none = path.join(folder, `idle-${round}.db`);
    megabytes("begin", none, 0);
    opened.push(megabytes("open", many, 0) - megabytes("open", none, 0));
  }
  return [
    {
      name: `${replies} replies that wait for a person, memory of the process in which they began`,
      value: `${median(began).toFixed(1)} MB more`,
      budget: "at most 10 MB more",
      held: median(began) <= 10,
      note: `${((median(began) * 1024) / replies).toFixed(1)} kB each, garbage collected`,
    },
    {
      name: `${replies} replies that wait for a person, memory of a process that opens their file and continues one`,
      value: `${median(opened).toFixed(0)} MB more`,
      budget: "within 20 MB of idle",
      held: median(opened) < 20,
    },
  ];
}

/** In a process of its own. */
function megabytes(task: "begin" | "open", file: string, count: number): number {
  const script = path.join(import.meta.dirname, "waiting-process.ts");
  const args = ["--conditions=andante-source", "--expose-gc", script, task, file, String(count)];
  return Number(execFileSync(process.execPath, args, { encoding: "utf8" }));
}
