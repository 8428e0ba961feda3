// The schemas of requests and responses about agents and conversations, as the API description names them.
import {
  busyPolicies,
  type CallSettings,
  maxInstructions,
  reasoningLevels,
  settingRanges,
} from "@andante/core/internal";
import { z } from "zod";
import {
  component,
  fields,
  jsonSchema,
  optionsOf,
  orNull,
  page,
  records,
  shape,
  strings,
  timestamp,
} from "./component.ts";
import { usage, usageFields } from "./usage.ts";

const summaryFields = shape(() => ({
  id: z.string(),
  name: z.string(),
  purpose: z.string(),
  model: z.string().nullable().describe("Provider and name; null when unknown"),
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      inputSchema: jsonSchema(),
      approval: z
        .enum(["always", "sometimes"])
        .optional()
        .describe("Whether a person must approve its calls; `sometimes`: decided per call. Absent: never"),
    }),
  ),
  subAgents: z.array(z.string()),
  status: z.enum(["idle", "running"]),
}));

export const agentSummary = component("AgentSummary", () => z.object(summaryFields()));
export const agentList = component("AgentList", () => z.array(agentSummary()));
export const agentDetail = component("AgentDetail", () =>
  z.object({
    ...summaryFields(),
    instructions: z
      .string()
      .nullable()
      .describe("Null when they are made for each call, or when the caller may not read them"),
  }),
);

export const toolCall = component("ToolCall", () =>
  z.object({ toolCallId: z.string(), toolName: z.string(), input: z.unknown() }),
);
export const toolResult = component("ToolResult", () => toolCall().extend({ output: z.unknown() }));
const replyFields = shape(() => ({
  text: z.string(),
  finishReason: z.string(),
  toolCalls: z.array(toolCall()),
  toolResults: z.array(toolResult()),
}));

export const textReply = component("TextReply", () =>
  z.object({
    ...replyFields(),
    output: z.unknown().optional().describe("The text parsed by the agent's `output`; only where it has one"),
    usage: usage().describe("Summed over all model calls, including those of sub-agents"),
    steps: z
      .array(z.object({ ...replyFields(), usage: z.object(usageFields()) }))
      .describe("One for each call of the model"),
  }),
);

export const objectReply = component("ObjectReply", () =>
  z.unknown().describe("An object that fits the schema"),
);

export const streamPart = component("StreamPart", () => z.looseObject({ type: z.string() }));

export const objectPart = component("ObjectPart", () =>
  z.object({
    type: z.enum(["object-delta", "object", "error"]),
    object: z.unknown().optional(),
    error: z.string().optional(),
  }),
);

export const chatChunk = component("ChatChunk", () =>
  z
    .looseObject({ type: z.string() })
    .describe("A chunk of the AI SDK's UI message stream; `[DONE]` is the last line"),
);

export const stopped = component("Stopped", () => z.object({ stopped: z.boolean() }));

/** A number among the options, with the range that the core checks. */
function within(name: keyof typeof settingRanges) {
  const { min, max, integer } = settingRanges[name];
  const range = [z.gte(min), z.lte(max)];
  // All checks in one call: each further call would create another schema.
  return integer ? z.number().check(...range, z.int()) : z.number().check(...range);
}

/** Any JSON value. */
type JsonValue = NonNullable<CallSettings["providerOptions"]>[string][string];

const callOptions = shape(() => ({
  userId: z.string(),
  conversationId: z.string(),
  whenBusy: z
    .enum(busyPolicies)
    .describe("What happens to the message while a reply runs in its conversation"),
  context: fields(),
  temperature: within("temperature"),
  topP: within("topP"),
  topK: within("topK"),
  maxOutputTokens: within("maxOutputTokens"),
  maxSteps: within("maxSteps"),
  seed: within("seed"),
  stopSequences: strings(),
  frequencyPenalty: within("frequencyPenalty"),
  presencePenalty: within("presencePenalty"),
  reasoning: z.enum(["provider-default", ...reasoningLevels]),
  providerOptions: records<JsonValue>(),
}));

const options = shape(() => optionsOf(callOptions()));
// Optional here and required in the description: the contract defines the message for a missing input.
const input = shape(() => z.unknown().optional());

export const agentBody = component("AgentRequest", () =>
  z.object({ input: input(), options: options() }).meta({ required: ["input"] }),
);

export const objectBody = component("ObjectRequest", () =>
  z
    .object({ input: input(), schema: z.unknown().optional(), options: options() })
    .meta({ required: ["input", "schema"] }),
);

const chatFields = shape(() => ({
  input: input(),
  /** Fields that chat clients of the AI SDK send by default. */
  id: orNull(z.string()),
  messages: z.unknown().optional(),
  trigger: orNull(z.string()),
  messageId: orNull(z.string()),
  options: optionsOf({ ...callOptions(), resumable: z.boolean() }),
}));
export const chatBody = component("ChatRequest", () => z.object(chatFields()));

export const playgroundBody = component("PlaygroundRequest", () =>
  z.object({
    ...chatFields(),
    playground: z
      .object({
        model: z.string().describe("One of the models that the agent offers").optional(),
        temperature: within("temperature").optional(),
        instructions: z
          .string()
          .max(maxInstructions)
          .describe("The system prompt; empty for none")
          .optional(),
      })
      .describe("What differs from the agent, for this reply alone")
      .optional(),
  }),
);
export const playground = component("Playground", () =>
  z.object({
    model: z.string().nullable().describe("The agent's own; null when it is chosen for each call"),
    models: z.array(z.string()).describe("The others that can be chosen"),
    temperature: z.number().nullable().describe("The agent's own; null for the model's default"),
    instructions: z.string().nullable().describe("The agent's own; null when they are made for each call"),
  }),
);

const conversationFields = shape(() => ({
  conversationId: z.string(),
  agentId: z.string(),
  userId: z.string().nullable(),
  title: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  createdAt: timestamp(),
  updatedAt: timestamp(),
  usage: usage(),
}));

export const conversation = component("Conversation", () => z.object(conversationFields()));
export const conversationPage = component("ConversationPage", () =>
  z.object({ conversations: z.array(conversation()), nextCursor: z.string().nullable() }),
);

export const message = component("ConversationMessage", () =>
  z
    .object({
      id: z.string(),
      role: z
        .enum(["user", "assistant", "system"])
        .describe("A summary of earlier messages has the role `system`"),
      parts: z.array(z.looseObject({ type: z.string() })),
      metadata: z.unknown().optional(),
      createdAt: timestamp(),
      partial: z
        .literal(true)
        .optional()
        .describe("The reply was stopped, or its process ended, before it was complete"),
      summary: z
        .object({ from: z.string(), upTo: z.string(), messages: z.int() })
        .optional()
        .describe(
          "The ids of the first and the last message that this one stands for, and how many they are",
        ),
    })
    .describe("A message in the form that `useChat` of the AI SDK takes"),
);

export const messagePage = component("MessagePage", () =>
  z.object({
    messages: z.array(message()),
    nextCursor: z.string().nullable(),
    reply: z
      .enum(["running", "waiting", "done", "none"])
      .optional()
      .describe(
        "With `replyTo`: whether the reply is made, waits for a person or a tool, has ended, or failed",
      ),
  }),
);

export const startedReply = component("StartedReply", () =>
  z
    .object({ conversationId: z.string(), messageId: z.string(), status: z.literal("running") })
    .describe("The conversation of the reply, and the message that it replies to"),
);

export const queue = component("Queue", () =>
  z.object({ messages: z.array(message()).describe("The next one first") }),
);
export const withdrawn = component("WithdrawnMessage", () =>
  z.object({ conversationId: z.string(), messageId: z.string() }),
);

export const changeBody = component("ChangeConversationRequest", () =>
  z.object({ title: z.string().optional(), metadata: fields().optional() }),
);
export const forkBody = component("ForkRequest", () =>
  z.object({ conversationId: orNull(z.string()), upTo: orNull(z.string()) }),
);
export const decisionBody = component("DecisionRequest", () =>
  z.object({
    approvalId: z.string(),
    approved: z.boolean(),
    reason: orNull(z.string().max(10_000)).describe("The model reads it when the call is denied"),
    input: z
      .unknown()
      .optional()
      .describe("The input of the tool in place of the model's; for callers who see all conversations"),
  }),
);
export const decided = component("Decided", () =>
  z.object({
    conversationId: z.string(),
    waiting: z.int().describe("How many calls of the message still wait: the reply continues when none does"),
  }),
);
export const agentFacts = component("AgentFacts", () =>
  z.object({
    agentId: z.string(),
    facts: fields(),
    version: z.int().describe("How often they were changed"),
    updatedAt: timestamp().nullable(),
    history: z
      .array(
        z.object({
          patch: fields().describe("A JSON merge patch"),
          by: z.string().nullable().describe("The user who changed them; null for the agent itself"),
          at: timestamp(),
          changes: z
            .int()
            .describe("Above 1 it stands for so many changes, and the patch is the facts as they were"),
        }),
      )
      .describe("The last changes, newest first"),
  }),
);
export const factsOfAgents = component("Facts", () =>
  z.object({ facts: z.array(agentFacts()).describe("Those of each agent that keeps facts") }),
);
export const factsBody = component("ChangeFactsRequest", () =>
  z.object({
    facts: fields().describe("A JSON merge patch: null removes a fact, a field that is left out stays"),
    agentId: orNull(z.string()).describe("Whose facts they are; needed where several agents keep facts"),
  }),
);
export const removedFacts = component("RemovedFacts", () => z.object({ userId: z.string() }));

export const toolResumeBody = component("ToolResumeRequest", () =>
  z.object({
    suspensionId: z.string().describe("As the inbox has it"),
    resumeData: z.unknown().optional().describe("Data that fits the `resumeSchema` of the suspension"),
  }),
);
export const resumedTool = component("ResumedTool", () => z.object({ conversationId: z.string() }));
export const removed = component("Removed", () => z.object({ conversationId: z.string() }));
export const removedSummary = component("RemovedSummary", () =>
  z.object({ conversationId: z.string(), messageId: z.string() }),
);

export const messagesQuery = shape(() =>
  z.object({
    ...page(),
    order: z.enum(["oldest", "newest"]).optional(),
    replyTo: z.string().optional().describe("Only the reply to the message of this id"),
  }),
);
export const conversationsQuery = shape(() =>
  z.object({
    ...page(),
    agentId: z.string().optional(),
    title: z.string().max(200).optional(),
    userId: z.string().optional(),
  }),
);
