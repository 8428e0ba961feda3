// The model of the peers' agents: small deltas, as many as the question says, one for each turn of the event loop when
// it says "paced". In the version of the provider's interface that the peers take.
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

export const deltaModel = {
  specificationVersion: "v3",
  provider: "bench",
  modelId: "deltas",
  supportedUrls: {},
  async doGenerate() {
    throw new Error("this model only streams");
  },
  async doStream({ prompt }) {
    const [, count = "1", pace] = /(\d+) (paced|burst)/.exec(JSON.stringify(prompt)) ?? [];
    return { stream: deltas(Number(count), pace) };
  },
};

function deltas(count, pace) {
  let sent = 0;
  return new ReadableStream(
    {
      start(controller) {
        controller.enqueue({ type: "stream-start", warnings: [] });
        controller.enqueue({ type: "text-start", id: "1" });
      },
      async pull(controller) {
        if (pace === "paced") await new Promise((resolve) => setImmediate(resolve));
        if (sent++ < count) return controller.enqueue({ type: "text-delta", id: "1", delta: "word " });
        controller.enqueue({ type: "text-end", id: "1" });
        controller.enqueue({ type: "finish", finishReason: { unified: "stop", raw: undefined }, usage });
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
