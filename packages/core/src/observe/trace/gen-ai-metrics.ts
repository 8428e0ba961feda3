// The GenAI client metrics of OpenTelemetry's conventions, for the meter provider that the host has registered.
import type { Attributes } from "@opentelemetry/api";
import { genAiSchema, isRegistered, otelApi } from "./otel-api.ts";

/** A call of a language model that has ended. */
export interface ModelCall {
  /** The provider's name in the AI SDK, such as `openai.chat`. */
  readonly provider: string;
  readonly requestModel: string;
  readonly responseModel?: string;
  readonly seconds: number;
  readonly tokens?: { readonly input: number | undefined; readonly output: number | undefined };
  /** The class of the error that it ended with. */
  readonly errorType?: string;
}

const doubling = Array.from({ length: 14 }, (_, power) => 2 ** power / 100);
const quadrupling = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Records nothing where no meter provider is registered. */
export function recordModelCall(call: ModelCall): void {
  if (!isRegistered("metrics")) return;
  const { provider, requestModel, responseModel, seconds, tokens, errorType } = call;
  const attributes: Attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerName(provider),
    "gen_ai.request.model": requestModel,
    ...(responseModel !== undefined && { "gen_ai.response.model": responseModel }),
  };
  const meter = otelApi().metrics.getMeter("@andante/core", undefined, { schemaUrl: genAiSchema });
  meter
    .createHistogram("gen_ai.client.operation.duration", {
      description: "GenAI operation duration.",
      unit: "s",
      advice: { explicitBucketBoundaries: doubling },
    })
    .record(seconds, { ...attributes, ...(errorType !== undefined && { "error.type": errorType }) });
  const usage = meter.createHistogram("gen_ai.client.token.usage", {
    description: "Number of input and output tokens used.",
    unit: "{token}",
    advice: { explicitBucketBoundaries: quadrupling },
  });
  for (const type of ["input", "output"] as const) {
    const count = tokens?.[type];
    if (count !== undefined) usage.record(count, { ...attributes, "gen_ai.token.type": type });
  }
}

/** Beginnings of provider names in the AI SDK, and their names in the conventions; the first that fits counts. */
const providerNames: readonly (readonly [string, string])[] = [
  ["google.vertex", "gcp.vertex_ai"],
  ["google-vertex", "gcp.vertex_ai"],
  ["google", "gcp.gemini"],
  ["amazon-bedrock", "aws.bedrock"],
  ["bedrock", "aws.bedrock"],
  ["azure-openai", "azure.ai.openai"],
  ["azure", "azure.ai.inference"],
  ["mistral", "mistral_ai"],
  ["moonshotai", "moonshot_ai"],
  ["xai", "x_ai"],
  ...["anthropic", "cohere", "deepseek", "groq", "openai", "perplexity"].map((name) => [name, name] as const),
];

/** The name that the spans of `@ai-sdk/otel` have for the provider too. */
function providerName(provider: string): string {
  const begins = ([name]: readonly [string, string]) =>
    provider.startsWith(name) && /^(?:$|[.-])/.test(provider.slice(name.length));
  return providerNames.find(begins)?.[1] ?? provider;
}
