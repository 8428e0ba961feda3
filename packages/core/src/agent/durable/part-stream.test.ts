// The parts of a model on their way: changed, handled, watched, broken off and cancelled.
import { expect, test } from "vitest";
import { inTime } from "../../../test/support/in-time.ts";
import type { ModelPart } from "./model-parts.ts";
import { PartStream } from "./part-stream.ts";

const text = (delta: string): ModelPart => ({ type: "text-delta", id: "t", delta });

/** A stream over these parts; an error breaks it. */
function streamOf(...parts: (ModelPart | Error)[]) {
  const noted: string[] = [];
  let cancelled: unknown;
  const source = new ReadableStream<ModelPart>(
    {
      pull(controller) {
        const next = parts.shift();
        if (next === undefined) controller.close();
        else if (next instanceof Error) controller.error(next);
        else controller.enqueue(next);
      },
      cancel(reason) {
        cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  const stream: PartStream = new PartStream(source, {
    seen: (part) => noted.push(part.type === "text-delta" ? part.delta : part.type),
    over: () => noted.push("over"),
    failed: (error) => {
      noted.push("failed");
      stream.failWith(error);
    },
    cancelled: (reason) => noted.push(`cancelled ${reason}`),
  });
  const read = async () => {
    const read: unknown[] = [];
    for await (const part of stream) read.push(part.type === "text-delta" ? part.delta : part);
    return read;
  };
  return { stream, noted, all: () => inTime(read(), "the end of the stream"), cancelled: () => cancelled };
}

test("parts pass as they are, and each is seen before it", async () => {
  const { all, noted } = streamOf(text("a"), text("b"));
  expect(await all()).toEqual(["a", "b"]);
  expect(noted).toEqual(["a", "b", "over"]);
});

test("they are changed, then handled; a handler keeps some and passes others on before them", async () => {
  const { stream, all, noted } = streamOf(text("a"), text("b"), text("c"), text("d"));
  stream.changeWith((part) => (part.type === "text-delta" ? text(part.delta.toUpperCase()) : part));
  const kept: ModelPart[] = [];
  stream.handleWith((part, passOn) => {
    if (part.type !== "text-delta" || part.delta === "D") {
      for (const one of kept.splice(0)) passOn(one);
      return passOn(part);
    }
    if (part.delta === "A") return passOn(part);
    kept.push(part);
    return part.delta === "B" ? Promise.resolve() : undefined;
  });
  expect(await all()).toEqual(["A", "B", "C", "D"]);
  expect(noted).toEqual(["a", "b", "c", "d", "over"]);
});

test("one that breaks ends with an error part", async () => {
  const { all, noted } = streamOf(text("a"), new Error("the line is cut"), text("b"));
  expect(await all()).toEqual(["a", { type: "error", error: new Error("the line is cut") }]);
  expect(noted).toEqual(["a", "failed"]);
});

test("one that fails while a part is handled ends after that part, and cancels the model's stream", async () => {
  const { stream, all, noted, cancelled } = streamOf(text("a"), text("b"), text("c"));
  const handling = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  stream.handleWith(async (part, passOn) => {
    if (part.type === "text-delta" && part.delta === "b") {
      reached.resolve();
      await handling.promise;
    }
    passOn(part);
  });
  const read = all();
  await inTime(reached.promise, "the second part");
  stream.failWith(new Error("enough"));
  handling.resolve();
  expect(await read).toEqual(["a", "b", { type: "error", error: new Error("enough") }]);
  expect(noted).toEqual(["a", "b"]);
  expect(cancelled()).toEqual(new Error("enough"));
  // It is over: nothing more is added.
  stream.failWith(new Error("again"));
});

test("a reader that cancels it cancels the model's stream, and no part follows", async () => {
  const { stream, noted, cancelled } = streamOf(text("a"), text("b"));
  const reader = stream.getReader();
  expect(await reader.read()).toMatchObject({ value: { delta: "a" } });
  await reader.cancel("left");
  expect([noted, cancelled()]).toEqual([["a", "cancelled left"], "left"]);
  expect(await reader.read()).toEqual({ done: true, value: undefined });
});
