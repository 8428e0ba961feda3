// Addresses of steps, and the steps they lead to.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createWorkflow } from "../workflow/create-workflow.ts";
import { findStep } from "../workflow/find-step.ts";
import { andThen, andWorkflow } from "../workflow/steps/free-steps.ts";
import { childPath, functionPath, isBelow, stepIdOf } from "./step-path.ts";

test("paths are ids joined by slashes, functions beside a step come after a hash", () => {
  expect(childPath("", "a")).toBe("a");
  expect(childPath("a/b", "c")).toBe("a/b/c");
  expect(functionPath("a/b", "condition")).toBe("a/b#condition");
});

test.each([
  ["a/b", "a", true],
  ["a[3]/b", "a", true],
  ["a/b/c", "a/b", true],
  ["a", "a", false],
  ["ab", "a", false],
  ["ab/c", "a", false],
  ["a#condition", "a", true],
  ["a[3]#condition", "a", true],
  ["a#call[2].tool[0]", "a", true],
  ["ab#condition", "a", false],
  ["b/a/c", "a", false],
])("%s below %s: %s", (path, container, expected) => {
  expect(isBelow(path, container)).toBe(expected);
});

test.each([
  ["review", "review"],
  ["fan-out/left", "left"],
  ["each[3]/resize", "resize"],
  ["each[3]", "each"],
  ["loop[3]#condition", "loop"],
])("the step at %s is %s", (path, id) => {
  expect(stepIdOf(path)).toBe(id);
});

describe("findStep", () => {
  const input = z.object({});
  const child = createWorkflow({ id: "child", input }).andThen({ id: "leaf", execute: () => ({}) });
  const workflow = createWorkflow({ id: "parent", input })
    .andAll({
      id: "all",
      steps: [andThen({ id: "left", execute: () => ({}) }), andWorkflow({ id: "sub", workflow: child })],
    })
    .andThen({ id: "left", execute: () => 1 });

  test("follows a path through containers and returns the workflow that holds the step", () => {
    expect(findStep(workflow, "all/left")).toMatchObject({
      step: { id: "left" },
      workflow: { id: "parent" },
    });
    expect(findStep(workflow, "all/sub")).toMatchObject({ step: { id: "sub" }, workflow: { id: "parent" } });
    expect(findStep(workflow, "all/sub/leaf")).toMatchObject({
      step: { id: "leaf" },
      workflow: { id: "child" },
    });
    expect(findStep(workflow, "left")?.step).toBe(workflow.steps[1]);
    expect(findStep(workflow, "all#condition")?.step.id).toBe("all");
  });

  test("finds nothing where nothing is", () => {
    for (const path of ["", "none", "all/none", "left/all", "leaf"]) {
      expect(findStep(workflow, path)).toBeUndefined();
    }
  });
});
