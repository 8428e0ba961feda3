// A model that replies with one word, so that no network hides the cost of a start.
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** @type {import("@ai-sdk/provider").LanguageModelV4} */
export const model = {
  specificationVersion: "v4",
  provider: "bench",
  modelId: "word",
  supportedUrls: {},
  async doGenerate() {
    const content = [{ type: "text", text: "hello" }];
    return { content, finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
  },
  async doStream() {
    throw new Error("this model does not stream");
  },
};
