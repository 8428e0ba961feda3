// The step of an event.
import { expect, test } from "vitest";
import { stepOf } from "./event-text.ts";

const about = (stepPath: string) =>
  stepOf({ type: "checkpoint-complete", executionId: "e", timestamp: "", stepPath });

test("a checkpoint belongs to the step that made it", () => {
  expect(about("each[3]/charge#card")).toBe("each[3]/charge");
  expect(about("draft")).toBe("draft");
});
