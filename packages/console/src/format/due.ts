// Formats deadlines, in the future and in the past, with their effect.
import type { Suspension } from "@andante/client";
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

const longest = 40;

function answerWords(answer: unknown): string {
  if (typeof answer === "boolean") return answer ? "yes" : "no";
  const values = typeof answer === "object" && answer !== null ? Object.values(answer) : [];
  const decisions = values.filter((value) => typeof value === "boolean");
  if (decisions.length === 1) return answerWords(decisions[0]);
  if (answer === null || answer === undefined) return "nothing";
  const plain = values.filter((value) => typeof value === "string" || typeof value === "number");
  const words = plain.length > 0 ? plain.join(" · ") : String(JSON.stringify(answer)).replace(/^"|"$/g, "");
  return words.length > longest ? `${words.slice(0, longest)}…` : words;
}
