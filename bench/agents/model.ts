// The model of both contenders: small deltas, as many and as fast as the question says.
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { now } from "./clock.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** "12 paced" is 12 deltas, one for each turn of the event loop; "burst" as fast as they are read; "timed" says the time. */
export const deltaModel: LanguageModelV4 = {
  specificationVersion: "v4",
  provider: "bench",
  modelId: "deltas",
  supportedUrls: {},
  async doGenerate() {
    throw new Error("this model only streams");
  },
  async doStream({ prompt }) {
    const question = JSON.stringify(prompt);
    const [, count, pace] = /(\d+) (paced|burst|timed)/.exec(question) ?? [];
    return { stream: deltas(Number(count), pace) };
  },
};

function deltas(count: number, pace: string | undefined): ReadableStream<LanguageModelV4StreamPart> {
  let sent = 0;
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      start(controller) {
        controller.enqueue({ type: "stream-start", warnings: [] });
        controller.enqueue({ type: "text-start", id: "1" });
      },
      async pull(controller) {
        if (pace === "paced") await new Promise((resolve) => setImmediate(resolve));
        // Long enough for everything that came before to arrive.
        if (pace === "timed" && sent > 0) await new Promise((resolve) => setTimeout(resolve, 20));
        if (sent < count) {
          sent++;
          const delta = pace === "timed" ? String(now()) : "word ";
          return controller.enqueue({ type: "text-delta", id: "1", delta });
        }
        controller.enqueue({ type: "text-end", id: "1" });
        controller.enqueue({ type: "finish", finishReason: { unified: "stop", raw: undefined }, usage });
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
