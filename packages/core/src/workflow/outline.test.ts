import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createWorkflow } from "./create-workflow.ts";
import { findIncompatibility, fingerprintOf, type Outline, outlineOf, readOutline } from "./outline.ts";
import { andAll, andThen } from "./steps/free-steps.ts";

const step = (id: string, type = "andThen") => ({ id, type });
const all = (id: string, ...branches: Outline[]) => ({ id, type: "andAll", branches });
const execute = () => null;

describe("an outline", () => {
  const child = createWorkflow({ id: "child", input: z.unknown() }).andThen({ id: "inner", execute });
  const workflow = createWorkflow({ id: "outer", input: z.unknown() })
    .andThen({ id: "first", execute })
    .andAll({
      id: "both",
      steps: [andThen({ id: "left", execute }), (c) => c.andThen({ id: "right", execute })],
    })
    .andWhen({ id: "maybe", condition: () => true, step: andThen({ id: "then", execute }) })
    .andWorkflow({ id: "sub", workflow: child });

  test("holds ids, kinds and nesting, children included, and comes back from its text", () => {
    const outline = [
      step("first"),
      all("both", [step("left")], [step("right")]),
      { id: "maybe", type: "andWhen", branches: [[step("then")]] },
      { id: "sub", type: "andWorkflow", branches: [[step("inner")]] },
    ];
    expect(outlineOf(workflow.steps)).toEqual(outline);
    expect(readOutline(fingerprintOf(workflow).outline)).toEqual(outline);
  });

  test("is the same for the same steps, with any bodies, names and schemas", () => {
    const one = createWorkflow({ id: "w", input: z.unknown() }).andThen({ id: "a", execute });
    const two = createWorkflow({ id: "w", name: "W", input: z.object({}) }).andThen({
      id: "a",
      name: "A",
      purpose: "another body",
      outputSchema: z.number(),
      execute: () => 1,
    });
    expect(fingerprintOf(one)).toEqual(fingerprintOf(two));
  });

  test("differs when a child's step does", () => {
    const wrap = (inner: string) =>
      createWorkflow({ id: "w", input: z.unknown() }).andWhen({
        id: "when",
        condition: () => true,
        step: andAll({ id: "all", steps: [andThen({ id: inner, execute })] }),
      });
    expect(fingerprintOf(wrap("a")).definition).not.toBe(fingerprintOf(wrap("b")).definition);
  });
});

describe("a journal", () => {
  const before = [
    step("a"),
    all("both", [step("l1"), step("l2")], [step("r1")]),
    { id: "each", type: "andForEach", branches: [[step("resize"), step("store")]] },
    step("z"),
  ];
  const rest = before.slice(2);

  test.each<[string, Outline, string[]]>([
    ["the same steps", before, ["a", "both", "both/l1", "both/r1", "each", "each[0]/resize", "z"]],
    ["nothing reached", [], []],
    ["a step added at the end", [...before, step("new")], ["a", "z"]],
    ["a step added after the last reached one", [step("a"), step("new"), ...before.slice(1)], ["a"]],
    ["a later step gone", [step("a")], ["a"]],
    ["a later step renamed", [step("a"), step("other")], ["a"]],
    [
      "a step added in a branch, later",
      [step("a"), all("both", [step("l1"), step("x")], [step("r1")])],
      ["a", "both", "both/l1", "both/r1"],
    ],
    [
      "a branch added",
      [step("a"), all("both", [step("l1"), step("l2")], [step("r1")], [step("q")])],
      ["a", "both", "both/l1", "both/r1"],
    ],
  ])("fits: %s", (_, current, reached) => {
    expect(findIncompatibility(before, current, reached)).toBeUndefined();
  });

  test.each<[string, Outline, string[], string]>([
    ["renamed", [step("b")], ["a"], 'step 1 was "a" (andThen), now "b" (andThen)'],
    ["of another kind", [step("a", "andTap")], ["a"], 'step 1 was "a" (andThen), now "a" (andTap)'],
    ["gone", [], ["a"], 'step 1 was "a" (andThen), now missing'],
    [
      "moved",
      [before[1] ?? step(""), step("a"), ...rest],
      ["a", "both", "both/l1"],
      'step 1 was "a" (andThen), now "both" (andAll)',
    ],
    [
      "pushed back by a new step",
      [step("a"), step("new"), ...before.slice(1)],
      ["a", "both#anything"],
      'step 2 was "both" (andAll), now "new" (andThen)',
    ],
    [
      "renamed in a branch",
      [step("a"), all("both", [step("x"), step("l2")], [step("r1")]), ...rest],
      ["a", "both", "both/l1"],
      'step 1 inside "both" was "l1" (andThen), now "x" (andThen)',
    ],
    [
      "in another branch",
      [step("a"), all("both", [step("r1")], [step("l1"), step("l2")]), ...rest],
      ["a", "both", "both/l1", "both/r1"],
      'step 1 inside "both" was "l1" (andThen), now "r1" (andThen)',
    ],
    [
      "in a branch that is gone",
      [step("a"), all("both", [step("l1")]), ...rest],
      ["a", "both", "both/l1", "both/r1"],
      'step 1 inside "both" was "r1" (andThen), now missing',
    ],
    [
      "gone from an iteration",
      [...before.slice(0, 2), { id: "each", type: "andForEach", branches: [[step("store")]] }],
      ["a", "both", "each", "each[12]/resize"],
      'step 1 inside "each" was "resize" (andThen), now "store" (andThen)',
    ],
  ])("does not fit when a step that it reached is %s", (_, current, reached, change) => {
    expect(findIncompatibility(before, current, reached)).toBe(change);
  });

  describe("with a loop", () => {
    const loop = (id: string, ...steps: Outline) => ({ id, type: "andDoWhile", branches: [steps] });
    const each = (id: string, ...steps: Outline) => ({ id, type: "andForEach", branches: [steps] });
    const cases = (id: string, ...branches: Outline[]) => ({ id, type: "andBranch", branches });
    const changed = 'the steps inside "l" have changed, and rounds of it are over';

    test.each<[string, Outline, Outline, string[], string[], string | undefined]>([
      [
        "no round is over",
        [loop("l", step("a"))],
        [loop("l", step("a"), step("b"))],
        ["l", "l[0]/a"],
        ["l[0]/a"],
        undefined,
      ],
      [
        "a round is over",
        [loop("l", step("a"))],
        [loop("l", step("a"), step("b"))],
        ["l", "l[0]/a", "l[1]/a"],
        ["l[0]/a", "l[0]#condition"],
        changed,
      ],
      [
        "the loop itself is over",
        [loop("l", step("a")), step("z")],
        [loop("l", step("a"), step("b")), step("z")],
        ["l", "l[0]/a", "z"],
        ["l[0]/a", "l[0]#condition", "l"],
        undefined,
      ],
      [
        "a step of a later round is gone",
        [loop("l", step("a"), step("b"))],
        [loop("l", step("a"))],
        ["l", "l[0]/a", "l[0]/b", "l[1]/a"],
        ["l[0]/a", "l[0]/b", "l[0]#condition"],
        'step 2 inside "l" was "b" (andThen), now missing',
      ],
      [
        "deep inside, in a container that no round has left open",
        [loop("l", all("both", [step("a")]))],
        [loop("l", all("both", [step("a"), step("b")]))],
        ["l", "l[0]/both", "l[0]/both/a", "l[1]/both"],
        ["l[0]/both/a", "l[0]/both", "l[0]#condition"],
        changed,
      ],
      [
        "an item is over",
        [each("l", step("a"))],
        [each("l", step("a"), step("b"))],
        ["l", "l[0]/a", "l[1]/a"],
        ["l[0]/a"],
        changed,
      ],
      [
        "no item is over",
        [each("l", step("a"), step("b"))],
        [each("l", step("a"), step("b"), step("c"))],
        ["l", "l[0]/a", "l[0]/b"],
        ["l[0]/a"],
        undefined,
      ],
      [
        "a loop inside a round of another is over, the outer is not",
        [loop("o", loop("l", step("a")))],
        [loop("o", loop("l", step("a"), step("b")))],
        ["o", "o[0]/l", "o[0]/l[0]/a", "o[1]/l"],
        ["o[0]/l[0]/a", "o[0]/l[0]#condition", "o[0]/l", "o[0]#condition"],
        'the steps inside "o" have changed, and rounds of it are over',
      ],
      [
        "a case comes before one whose condition is known",
        [cases("c", [step("a")], [step("b")])],
        [cases("c", [step("new")], [step("a")], [step("b")])],
        ["c", "c[0]#condition"],
        ["c[0]#condition"],
        'step 1 inside "c" was "a" (andThen), now "new" (andThen)',
      ],
      [
        "a case comes after those whose conditions are known",
        [cases("c", [step("a")], [step("b")])],
        [cases("c", [step("a")], [step("new")], [step("b")])],
        ["c", "c[0]#condition"],
        ["c[0]#condition"],
        undefined,
      ],
    ])("where %s", (_, was, current, reached, ended, change) => {
      expect(findIncompatibility(was, current, reached, ended)).toBe(change);
    });
  });
});
