import { expect, test } from "vitest";
import { eitherSignal } from "./either-signal.ts";

test.each([0, 1])("it is aborted when number %i is, with its reason, and by nothing after that", (which) => {
  const controllers = [new AbortController(), new AbortController()] as const;
  const either = eitherSignal(controllers[0].signal, controllers[1].signal);
  const reasons: unknown[] = [];
  either.addEventListener("abort", () => reasons.push(either.reason));
  expect(either.aborted).toBe(false);
  controllers[which === 0 ? 0 : 1].abort("first");
  controllers[which === 0 ? 1 : 0].abort("second");
  expect([either.aborted, reasons]).toEqual([true, ["first"]]);
});

test("one that is aborted already aborts it at once", () => {
  const either = eitherSignal(new AbortController().signal, AbortSignal.abort("gone"));
  expect([either.aborted, either.reason]).toEqual([true, "gone"]);
});
