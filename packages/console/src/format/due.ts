// Formats deadlines, in the future and in the past, with their effect.
import type { Suspension } from "@andante/client";
import { inlineWords } from "../components/inline-json.ts";
import { age } from "./numbers.ts";

/** A deadline: "in 4 min", "now", "overdue". A server processes deadlines shortly after they have passed. */
export function dueText(deadline: string, now: number): string {
  const left = Date.parse(deadline) - now;
  if (left < -5000) return "overdue";
  return left < 5000 ? "now" : `in ${age(left)}`;
}

/** A deadline as a separate remark: "answers “no” in 46 min". */
export function deadlineWords(
  { deadline, onDeadline }: Pick<Suspension, "deadline" | "onDeadline">,
  now: number,
): string {
  if (deadline === undefined) return "";
  const words = dueText(deadline, now);
  return words === "overdue" ? words : `${effectOf(onDeadline)} ${words}`;
}

function effectOf(onDeadline: Suspension["onDeadline"]): string {
  if (onDeadline === undefined) return "times out";
  if (typeof onDeadline === "string") return onDeadline === "fail" ? "fails" : "is cancelled";
  return `answers “${answerWords(onDeadline.resume)}”`;
}

function answerWords(answer: unknown): string {
  if (typeof answer === "boolean") return answer ? "yes" : "no";
  const values = typeof answer === "object" && answer !== null ? Object.values(answer) : [];
  if (values.length === 1 && typeof values[0] === "boolean") return answerWords(values[0]);
  return inlineWords(answer, 40) || "nothing";
}
