// What the AI SDK gets of a model's stream.
import { expect, test } from "vitest";
import { allInTime } from "../../../test/support/in-time.ts";
import { DeltaShortcut } from "./delta-shortcut.ts";
import type { ModelPart } from "./model-parts.ts";
import { PartStream, type PartWatch } from "./part-stream.ts";

const watch: PartWatch = {
  seen: () => undefined,
  over: () => undefined,
  failed: () => undefined,
  cancelled: () => undefined,
};

test("of a text that nothing follows the AI SDK gets all that went ahead", async () => {
  const shortcut = new DeltaShortcut();
  const result = {};
  const ahead: string[] = [];
  shortcut.leadsPast(result);
  shortcut.open(result, { deliver: ({ text }) => ahead.push(text), hasUntaken: false });
  shortcut.begin();
  const said = ["a", "b", "c"].map((delta): ModelPart => ({ type: "text-delta", id: "1", delta }));
  const stream = new PartStream(ReadableStream.from(said), watch, shortcut);
  const given: string[] = [];
  const read = stream.pipeThrough(
    new TransformStream<ModelPart, ModelPart>({
      transform: (part) => {
        if (part.type !== "text-delta") return;
        given.push(part.delta);
        shortcut.isTold({ type: "text-delta", id: "1", text: part.delta });
      },
    }),
  );
  await allInTime(read, "the end of the stream");
  expect(ahead).toEqual(["b", "c"]);
  expect(given).toEqual(["a", "bc"]);
});
