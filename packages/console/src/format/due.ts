// Formats deadlines, in the future and in the past.
import { age } from "./numbers.ts";

/** A deadline: "in 4 min", "now", "overdue". A server processes deadlines shortly after they have passed. */
export function dueText(deadline: string, now: number): string {
  const left = Date.parse(deadline) - now;
  if (left < -5000) return "overdue";
  return left < 5000 ? "now" : `in ${age(left)}`;
}

/** A deadline as a separate remark. */
export function deadlineWords(deadline: string, now: number): string {
  const words = dueText(deadline, now);
  if (words === "overdue") return words;
  return words === "now" ? "due now" : `times out ${words}`;
}
