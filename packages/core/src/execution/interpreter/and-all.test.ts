// The array of branches' outputs, at the edge of the longest string.
import { constants } from "node:buffer";
import { expect, test } from "vitest";
import type { Outcome } from "../../journal/outcome.ts";
import { outputsOf } from "./and-all.ts";

test("outputs that no string can hold together are a failure of the container, not of the process", () => {
  const one: Outcome = { kind: "output", value: `"${"x".repeat(2 ** 20)}"` };
  const outcomes = Array<Outcome>(Math.ceil(constants.MAX_STRING_LENGTH / 2 ** 20)).fill(one);
  expect(outputsOf({ outcomes, decisive: one }, "all")).toMatchObject({
    kind: "error",
    error: {
      name: "OutputLimitError",
      step: "all",
      message: expect.stringContaining("Output of step all is"),
    },
  });
});
