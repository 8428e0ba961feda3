// The question that a message answers.
import { isObject } from "../is-object.ts";
import { A2aError } from "./a2a-errors.ts";
import type { MessageIn } from "./params.ts";
import type { Question, Task } from "./task.ts";

/** The one that the message names, or the only one. */
export function questionIn({ status }: Task, { metadata }: MessageIn): Question {
  const open = (status.message?.parts ?? []).flatMap(({ data }) => (isQuestion(data) ? [data] : []));
  const named = metadata?.questionId;
  const found =
    named === undefined && open.length === 1 ? open[0] : open.find((each) => each.questionId === named);
  if (found !== undefined) return found;
  const ids = open.map(({ questionId }) => questionId).join(", ");
  throw new A2aError("INVALID_PARAMS", `metadata.questionId: expected one of ${ids}`);
}

function isQuestion(data: unknown): data is Question {
  return isObject(data) && typeof data.questionId === "string" && typeof data.reason === "string";
}
