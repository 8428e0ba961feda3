// Errors of agents and conversations that a caller can see. The provider's own words are the cause, for the log.
import { AndanteError } from "./andante-error.ts";

export class AgentNotFoundError extends AndanteError {
  constructor({ agentId }: { agentId: string }) {
    super(`Agent ${agentId} not found`, { code: "agent-not-found", status: 404 });
  }
}

/** The host has turned the playground of the agent off, or the agent is not made by `Agent`. */
export class PlaygroundOffError extends AndanteError {
  constructor({ agentId }: { agentId: string }) {
    super(`Agent ${agentId} has no playground`, { code: "playground-off", status: 404 });
  }
}

/** No conversation has this id, or it is another user's: a caller cannot tell the difference. */
export class ConversationNotFoundError extends AndanteError {
  constructor({ conversationId }: { conversationId: string }) {
    super(`Conversation ${conversationId} not found`, { code: "conversation-not-found", status: 404 });
  }
}

/** The conversation has no such summary. */
export class SummaryNotFoundError extends AndanteError {
  constructor({ messageId }: { messageId: string }) {
    super(`Summary ${messageId} not found`, { code: "summary-not-found", status: 404 });
  }
}

/** Changed facts do not fit their schema; nothing is kept. */
export class InvalidFactsError extends AndanteError {
  constructor({ detail }: { detail: string }) {
    super(`The facts are not kept: ${detail}`, { code: "invalid-facts", status: 400 });
  }
}

/** The message does not fit the current state of the conversation. */
export class ConversationConflictError extends AndanteError {
  constructor({ problem }: { problem: string }) {
    super(problem, { code: "conversation-conflict", status: 409 });
  }
}

/** Another reply is under way in the conversation, and the message was not to wait for it. */
export class ConversationBusyError extends AndanteError {
  constructor({ conversationId }: { conversationId: string }) {
    super(`Another reply is under way in the conversation ${conversationId}`, {
      code: "conversation-busy",
      status: 409,
    });
  }
}

/** So many messages wait in the conversation already. */
export class QueueFullError extends AndanteError {
  constructor({ conversationId, limit }: { conversationId: string; limit: number }) {
    super(`Too many messages wait in the conversation ${conversationId} (limit ${limit})`, {
      code: "queue-full",
      status: 409,
    });
  }
}

/** No such message waits in the conversation: it has its reply, or never was there. */
export class QueuedMessageNotFoundError extends AndanteError {
  constructor({ messageId }: { messageId: string }) {
    super(`No message ${messageId} waits in the conversation`, {
      code: "queued-message-not-found",
      status: 404,
    });
  }
}

/** The message was taken back while it waited. */
export class MessageWithdrawnError extends AndanteError {
  constructor({ messageId }: { messageId: string }) {
    super(`Message ${messageId} was withdrawn while it waited`, { code: "message-withdrawn", status: 409 });
  }
}

/** The messages are more than a fork copies. */
export class ConversationTooLongError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(
      `The conversation is too long to be copied as a whole (limit ${limit} bytes), name a message with upTo`,
      {
        code: "conversation-too-long",
        status: 413,
      },
    );
  }
}

/** As many replies run in this process as the host allows. */
export class ReplyLimitError extends AndanteError {
  constructor({ limit }: { limit: number }) {
    super(`Too many agent replies are running (limit ${limit}), try again later`, {
      code: "reply-limit",
      status: 503,
      retryAfter: 1,
    });
  }
}

/** The files of other replies take the memory that files may take, or this user's share of it. */
export class FilesBusyError extends AndanteError {
  constructor() {
    super("The files of other replies take all the memory that files may take, try again later", {
      code: "files-busy",
      status: 503,
      retryAfter: 5,
    });
  }
}

/** A tool call was approved with a request that had been decided before. */
export class ApprovalUsedError extends AndanteError {
  constructor() {
    super("This approval has already been used", { code: "approval-used", status: 409 });
  }
}

/** The schema of a caller is not a JSON Schema, or uses keywords that Andante does not evaluate. */
export class InvalidSchemaError extends AndanteError {
  constructor({ detail }: { detail: string }) {
    super(`Invalid schema: ${detail}`, { code: "invalid-schema", status: 400 });
  }
}

/**
 * More schemas wait to be checked than the service can check soon, the thread that checks them does not start, or the
 * validation of a large value got too little of the processor.
 */
export class SchemaBusyError extends AndanteError {
  constructor({ cause }: { cause?: unknown } = {}) {
    super("The service is too busy to check this value, try again later", {
      code: "schema-busy",
      status: 503,
      retryAfter: 1,
      cause,
    });
  }
}

/** The model had a second try and its reply still does not fit. */
export class ObjectMismatchError extends AndanteError {
  constructor({ detail }: { detail: string }) {
    super(`The model's reply does not fit the schema: ${detail}`, { code: "object-mismatch", status: 422 });
  }
}

/** The provider refused, broke off or sent something that is not a reply. */
export class ModelFailedError extends AndanteError {
  constructor({ cause }: { cause?: unknown } = {}) {
    super("The model provider failed to answer", { code: "model-failed", status: 502, cause });
  }
}

/** One call of the model took longer than the agent's `timeout`. */
export class ModelTimeoutError extends AndanteError {
  constructor({ timeout }: { timeout: number }) {
    super(`The model did not answer within ${timeout / 1000} seconds`, {
      code: "model-timeout",
      status: 502,
    });
  }
}

/** The provider says that it is asked too often (429). */
export class ModelBusyError extends AndanteError {
  constructor({ retryAfter, cause }: { retryAfter: number; cause?: unknown }) {
    super("The model provider is busy, try again later", {
      code: "model-busy",
      status: 503,
      retryAfter,
      cause,
    });
  }
}

/** A hook of the host refused the reply with a `PublicError`, whose words these are. */
export class ReplyRefusedError extends AndanteError {
  constructor({ reason, cause }: { reason: string; cause?: unknown }) {
    super(reason, { code: "reply-refused", status: 403, cause });
  }
}

export interface BudgetReached {
  readonly unit: string;
  readonly limit: number;
  readonly whose?: "conversation" | "execution" | "reply";
}

/** A conversation, or an execution, has used as many tokens or calls as its budget allows. */
export class BudgetReachedError extends AndanteError {
  constructor({ unit, limit, whose = "conversation" }: BudgetReached) {
    super(`The ${whose} has used its budget of ${limit} ${unit}`, {
      code: "budget-reached",
      status: 403,
    });
  }
}

/** A budget over a window of time allows no further call of a model until the window ends. */
export class BudgetUsedUpError extends AndanteError {
  constructor({
    per,
    limit,
    unit,
    until,
    retryAfter,
  }: {
    readonly per: "user" | "agent" | "tag" | "all";
    readonly limit: number;
    readonly unit: "money" | "tokens";
    /** ISO 8601. */
    readonly until: string;
    /** Seconds. */
    readonly retryAfter: number;
  }) {
    const whose = per === "all" ? "" : ` of this ${per}`;
    const amount = unit === "tokens" ? `${limit} tokens` : String(limit);
    super(`The budget${whose} of ${amount} is used up until ${until}`, {
      code: "budget-used-up",
      status: 429,
      retryAfter,
    });
  }
}

/** A budget of money cannot count the calls of a model whose price is not known. */
export class ModelPriceError extends AndanteError {
  constructor({ model }: { model: string }) {
    super(`The model ${model} has no price, which a budget of money needs`, {
      code: "model-price",
      status: 500,
    });
  }
}

/** A function that the host gave to an agent threw. */
export class AgentFunctionError extends AndanteError {
  constructor({ option, cause }: { option: string; cause: unknown }) {
    super(`The agent's ${option} failed`, { code: "agent-function", status: 500, cause });
  }
}

/** The whole reply took longer than the agent's `timeout.totalMs` or `timeout.stepMs`, or a piece of it did. */
export class ReplyTimeoutError extends AndanteError {
  constructor({ cause }: { cause?: unknown } = {}) {
    super("The reply took longer than the agent's timeout", { code: "reply-timeout", status: 502, cause });
  }
}

/** The reply of an agent in a workflow stopped before it was complete. Asking again would read the same record. */
export class ReplyIncompleteError extends AndanteError {
  constructor({ path, why }: { path: string; why: string }) {
    super(`Step ${path}: the agent's reply is not complete: ${why}. Set allowIncomplete to use it anyway.`, {
      code: "reply-incomplete",
      status: 500,
    });
  }
}

/** An MCP server cannot be reached, or went away during a call. The cause has its address and the failure, for the log. */
export class McpServerGoneError extends AndanteError {
  constructor({ server, problem, cause }: { server: string; problem: string; cause: unknown }) {
    super(`The MCP server ${server} is gone: ${problem}`, { code: "mcp-server-gone", status: 502, cause });
  }
}

/** A tool of an MCP server took longer than the `timeout` of that server. */
export class McpTimeoutError extends AndanteError {
  constructor({ server, toolName, timeout }: { server: string; toolName: string; timeout: number }) {
    super(`The tool ${toolName} of the MCP server ${server} did not reply within ${timeout / 1000} seconds`, {
      code: "mcp-timeout",
      status: 502,
    });
  }
}

/** A person did not approve the call of a tool; the model reads it. */
export class ToolDeniedError extends AndanteError {
  constructor({ toolName, reason }: { toolName: string; reason: string | undefined }) {
    const why = reason === undefined || reason === "" ? "" : `: ${reason}`;
    super(`The call of ${toolName} was denied${why}`, { code: "tool-denied", status: 500 });
  }
}

/** A tool would wait or record a part of its work where its calls are not recorded. */
export class ToolWaitError extends AndanteError {
  constructor({ toolName, action }: { toolName: string; action: string }) {
    super(
      `The tool ${toolName} cannot ${action} here: only in a kept conversation and in a step of a workflow are its calls recorded`,
      { code: "tool-wait", status: 500 },
    );
  }
}

/** The workflow that a tool has run did not complete. */
export class ToolWorkflowError extends AndanteError {
  constructor({
    workflowId,
    status,
    problem,
  }: {
    workflowId: string;
    status: string;
    problem: string | undefined;
  }) {
    const how = status === "error" ? "failed" : `was ${status}`;
    super(`The workflow ${workflowId} ${how}${problem === undefined ? "" : `: ${problem}`}`, {
      code: "tool-workflow",
      status: 500,
    });
  }
}

/** A tool of the reply waits, and the caller's way of asking has no form for that. */
export class ReplyWaitsError extends AndanteError {
  constructor({ conversationId }: { conversationId: string | undefined }) {
    super(
      `The reply in conversation ${conversationId ?? ""} waits for a tool. It continues by itself, and the conversation keeps it`,
      { code: "reply-waits", status: 409 },
    );
  }
}

/** The caller of the reply disconnected or stopped it. */
export class ReplyStoppedError extends AndanteError {
  constructor() {
    super("The reply was stopped", { code: "reply-stopped", status: 499 });
  }
}
