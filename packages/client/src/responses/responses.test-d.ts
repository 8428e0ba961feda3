// The hand-written types of the client fit the generated ones and those of core.
import type { ExecutionResult as CoreResult, ExecutionState as CoreState } from "@andante/core";
import { expectTypeOf, test } from "vitest";
import type { ExecutionResult, ExecutionState } from "./executions.ts";
import type * as wire from "./wire.ts";

test("the result and the state of an execution fit their schemas, and core's own types", () => {
  expectTypeOf<ExecutionResult>().toExtend<wire.ExecutionResult>();
  expectTypeOf<ExecutionState>().toExtend<wire.ExecutionState>();
  expectTypeOf<CoreResult<{ n: number }>>().toExtend<ExecutionResult<{ n: number }>>();
  expectTypeOf<CoreState<{ n: number }, string>>().toExtend<ExecutionState<{ n: number }, string>>();
});
