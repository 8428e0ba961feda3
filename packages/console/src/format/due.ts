// Deadlines in words: ahead or passed.
import { age } from "./numbers.ts";

/** When something is due: "in 4 min", "now", "overdue". A server looks at deadlines a moment after they have passed. */
export function dueText(deadline: string, now: number): string {
  const left = Date.parse(deadline) - now;
  if (left < -5000) return "overdue";
  return left < 5000 ? "now" : `in ${age(left)}`;
}

/** The same as a remark of its own. */
export function deadlineWords(deadline: string, now: number): string {
  const words = dueText(deadline, now);
  if (words === "overdue") return words;
  return words === "now" ? "due now" : `times out ${words}`;
}
