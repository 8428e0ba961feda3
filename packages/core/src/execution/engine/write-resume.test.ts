// Writing a resume: the writes, and how the execution continues after each reply of the store.
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { engineForTest, rowForTest } from "../../../test/support/test-engine.ts";
import { encodeEvent } from "../../journal/codec.ts";
import { pageOf } from "../../journal/read-journal.ts";
import type { Resume, ResumeResult } from "../../store/store.ts";
import type { StoredEvent } from "../../store/stored-event.ts";
import { suspension } from "../../store-cases/store-cases.ts";
import { createWorkflow } from "../../workflow/create-workflow.ts";
import { addPage, emptyFold } from "../run/execution-fold.ts";
import type { LoadableState } from "./engine-kind.ts";
import { writeResume } from "./write-resume.ts";

const nap = createWorkflow({ id: "nap", input: z.unknown() }).andThen({ id: "one", execute: () => 1 });
const began: StoredEvent = {
  ...encodeEvent({
    ...{
      type: "workflow-start",
      timestamp: 7,
      input: undefined,
      traceparent: undefined,
      replayOf: undefined,
    },
  }),
  sequence: 1,
};
const resumed: StoredEvent = {
  ...encodeEvent({
    ...{
      type: "workflow-resumed",
      timestamp: 8,
      path: "one",
      stepIndex: 0,
      suspensionId: "s1",
      resumeData: "5",
    },
    ...{ userId: undefined, byDeadline: false, expired: false },
  }),
  sequence: 2,
};
const state: LoadableState = {
  execution: rowForTest({ status: "suspended", sequence: 1 }),
  ...{ suspensions: [suspension({ suspensionId: "s1", path: "one", suspendedAt: 5 })], timers: [] },
};
const journal = () => {
  const fold = emptyFold(state.execution);
  addPage(fold, pageOf([began]));
  return { fold, spans: undefined };
};

/** An engine whose store gives these replies to resumes, and the calls. */
function engineOf(...replies: readonly ResumeResult[]) {
  const left = [...replies];
  const calls: unknown[] = [];
  const { engine } = engineForTest(
    {
      resume: async (resume) => {
        calls.push({ resume });
        return left.shift() ?? { kind: "refused" };
      },
    },
    { workflows: [nap] },
  );
  vi.spyOn(engine, "load").mockImplementation(async (load) => void calls.push({ load }));
  vi.spyOn(engine.admission, "runWhenFree").mockImplementation(async (run) => {
    calls.push({ run });
    return true;
  });
  vi.spyOn(engine.observation, "resumed").mockImplementation(
    (id, at, waits) => void calls.push(`resumed ${id} at ${at} after ${waits}`),
  );
  vi.spyOn(engine.workflowKind, "publish").mockImplementation((_, events) => {
    calls.push(`published ${events.map(({ sequence }) => sequence)}`);
  });
  const resume: Resume = {
    ...{ executionId: "e1", suspensionIds: ["s1"], rewind: null, events: [resumed], byDeadline: false },
    claim: { owner: engine.claims.owner, token: "t" },
  };
  const written = () => void calls.push("written");
  return { engine, calls, resume, written };
}

const claimed: ResumeResult = { kind: "claimed", events: [resumed] };
const refused: ResumeResult = { kind: "refused" };

test("one that is refused changes nothing", async () => {
  const { engine, calls, resume, written } = engineOf(refused);
  expect(await writeResume(engine, { resume, state }, written)).toBe(false);
  expect(calls).toEqual([{ resume }]);
});

test("a claim is run when there is a slot, with the state that the resume leads to", async () => {
  const { engine, calls, resume, written } = engineOf(claimed);
  const known = journal();
  expect(await writeResume(engine, { resume, state, journal: known, dueAt: 40 }, written)).toBe(true);
  expect(calls).toEqual([
    { resume: { ...resume, last: { sequence: 1, at: 7 } } },
    ...["written", "resumed nap at 8 after 3", "published 2"],
    {
      run: {
        ...{ executionId: "e1", kind: engine.workflowKind, claim: resume.claim, user: "ada", dueAt: 40 },
        resumed: {
          state: expect.objectContaining({ suspensions: [], timers: [] }),
          journal: known,
        },
      },
    },
  ]);
  // Its journal has the resume.
  expect(known.fold.sequence).toBe(2);
  expect(engine.claims.holds("t")).toBe(false);
});

test("without the journal the state is known all the same", async () => {
  const { engine, calls, resume } = engineOf(claimed);
  await writeResume(engine, { resume, state });
  expect(calls[0]).toEqual({ resume });
  expect(calls.at(-1)).toMatchObject({ run: { resumed: { state: { timers: [] }, journal: undefined } } });
});

test("a journal that ends otherwise than its fold is read again", async () => {
  const { engine, calls, resume } = engineOf(refused, claimed);
  const known = journal();
  expect(await writeResume(engine, { resume, state, journal: known })).toBe(true);
  expect(calls.slice(0, 2)).toEqual([{ resume: { ...resume, last: { sequence: 1, at: 7 } } }, { resume }]);
  expect(calls.at(-1)).toMatchObject({ run: { resumed: undefined } });
  expect(known.fold.sequence).toBe(1);
});

test("where another command has written meanwhile, the state is read again", async () => {
  const { engine, calls, resume } = engineOf(claimed);
  await writeResume(engine, { resume, state, journal: journal() }, () => engine.claims.overtake("e1"));
  expect(calls.at(-1)).toMatchObject({ run: { resumed: undefined } });
});

test.each(["loaded", "closing"])("an execution that is %s needs no slot", async (how) => {
  const { engine, calls, resume } = engineOf(claimed);
  if (how === "loaded") vi.spyOn(engine, "has").mockImplementation((id) => id === "e1");
  else engine.stopIntake();
  await writeResume(engine, { resume, state });
  expect(calls.at(-1)).toMatchObject({ load: { executionId: "e1", claim: resume.claim } });
});

test("one that runs here gets the events of the resume", async () => {
  const { engine, calls, resume, written } = engineOf({ kind: "owned", events: [resumed] });
  const asked: string[] = [];
  const delivered = vi.fn();
  vi.spyOn(engine, "driver").mockImplementation(async (id) => {
    asked.push(id);
    return { deliver: delivered } as never;
  });
  expect(await writeResume(engine, { resume, state }, written)).toBe(true);
  expect(calls).toEqual([{ resume }, "written", "resumed nap at 8 after 3", "published 2"]);
  expect(asked).toEqual(["e1"]);
  expect(delivered.mock.calls).toEqual([
    [[expect.objectContaining({ type: "workflow-resumed", sequence: 2, resumeData: "5" })]],
  ]);
});

test("neither a pause that is lifted nor a deadline counts as an answer", async () => {
  const { engine, calls, resume } = engineOf(claimed, claimed);
  await writeResume(engine, { resume: { ...resume, byDeadline: true }, state });
  const pause = suspension({ suspensionId: "s1", path: null });
  await writeResume(engine, { resume, state: { ...state, suspensions: [pause] } });
  const reported = calls.filter((call) => typeof call === "string" && call.startsWith("resumed"));
  expect(reported).toEqual(["resumed nap at 8 after ", "resumed nap at 8 after "]);
});
