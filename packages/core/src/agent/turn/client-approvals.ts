// Tool approvals without a conversation: the client keeps the request and sends it back with the decision. It is signed
// for its agent and user, expires, and is used once.
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import type { ModelMessage } from "ai";
import { ApprovalUsedError, InputValidationError } from "../../errors/index.ts";
import type { ApprovalStore } from "../../store/approval-store.ts";
import type { Clock } from "../../values/clock.ts";
import { canonicalJson } from "../../values/json.ts";
import type { CallableAgent } from "../call/callable-agent.ts";
import type { Operation } from "../call/operation.ts";

/** The call that a person is asked about. */
export interface RequestedCall {
  readonly approvalId: string;
  /** An agent of the AI SDK may sign for itself; its signature follows ours. */
  readonly signature?: string | undefined;
  readonly toolCall: { readonly toolCallId: string; readonly toolName: string; readonly input: unknown };
}

/** The approval that the client sent back. */
interface Decision extends RequestedCall {
  readonly approved: boolean;
}

type SigningAgent = Pick<CallableAgent, "id" | "approval">;

export class ClientApprovals {
  readonly #store: ApprovalStore;
  readonly #clock: Clock;
  #kept: Promise<string> | undefined;

  constructor(store: ApprovalStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The signature that the client has to send back with the decision. */
  async sign(agent: SigningAgent, operation: Operation, requested: RequestedCall): Promise<string> {
    const expiresAt = this.#clock.now() + agent.approval.maxAge;
    const ours = signature(await this.#secret(agent), agent, operation, expiresAt, requested);
    return requested.signature === undefined ? ours : `${ours}.${requested.signature}`;
  }

  /**
   * Throws unless every call that the last message approves was requested from this user, lately, and not used before.
   * Returns the messages without our signatures.
   */
  async accept(
    agent: SigningAgent,
    operation: Operation,
    messages: readonly ModelMessage[],
  ): Promise<ModelMessage[]> {
    for (const decision of decisionsIn(messages)) {
      const proof = await this.#proofOf(agent, operation, decision);
      const at = this.#clock.now();
      // Nothing runs because of a denial, so it needs no proof; one that has it uses the request up.
      if (proof === undefined || proof.expiresAt < at) {
        if (!decision.approved) continue;
        refuse(`an approval ${proof === undefined ? "was not requested by this server" : "has expired"}`);
      }
      const { ours: approval, expiresAt } = proof;
      const first = await this.#store.use({ key: randomUUID(), approval, expiresAt, at });
      if (!first && decision.approved) throw new ApprovalUsedError();
    }
    return messages.map(withoutSignatures);
  }

  /** Our signature of the request; undefined when it is not one of ours, or another user's. */
  async #proofOf(
    agent: SigningAgent,
    operation: Operation,
    decision: Decision,
  ): Promise<SplitSignature | undefined> {
    const given = splitSignature(decision.signature);
    if (given === undefined) return undefined;
    const expected = signature(await this.#secret(agent), agent, operation, given.expiresAt, decision);
    return isSame(expected, given.ours) ? given : undefined;
  }

  /** The host's, else one that the store keeps: it must survive a restart. */
  #secret({ approval }: SigningAgent): string | Promise<string> {
    if (approval.secret !== undefined) return approval.secret;
    this.#kept ??= this.#store.secret(randomBytes(32).toString("base64url"));
    // A store in trouble is asked again.
    this.#kept.catch(() => {
      this.#kept = undefined;
    });
    return this.#kept;
  }
}

function signature(
  secret: string,
  { id }: SigningAgent,
  { userId, context }: Operation,
  expiresAt: number,
  { approvalId, toolCall }: RequestedCall,
): string {
  const { toolCallId, toolName, input } = toolCall;
  // A user that has no id is still not another one.
  const user = userId === undefined ? canonicalJson(JSON.stringify(context.get("user"))) : null;
  const call = [approvalId, toolCallId, toolName, canonicalJson(JSON.stringify(input))];
  const signed = JSON.stringify(["andante-approval-1", id, userId ?? null, user, expiresAt, ...call]);
  return `${expiresAt}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

interface SplitSignature {
  readonly ours: string;
  readonly expiresAt: number;
  /** The agent's own signature, which follows ours. */
  readonly agents: string | undefined;
}

/** Undefined for a text that does not have the form of our signatures. */
function splitSignature(signature = ""): SplitSignature | undefined {
  const [, ours, expiry, agents] = /^((\d{1,16})\.[\w-]+)(?:\.(.+))?$/.exec(signature) ?? [];
  return ours === undefined ? undefined : { ours, expiresAt: Number(expiry), agents };
}

function withoutSignatures(message: ModelMessage): ModelMessage {
  if (message.role !== "assistant" || typeof message.content === "string") return message;
  const content = message.content.map((part) => {
    if (part.type !== "tool-approval-request") return part;
    const { signature, ...request } = part;
    const agents = splitSignature(signature)?.agents;
    return agents === undefined ? request : { ...request, signature: agents };
  });
  return { ...message, content };
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * The decisions that the AI SDK would act on: those of the last message whose call has no result yet, the first one for
 * each call; of several requests or calls with one id the last one counts.
 */
function decisionsIn(messages: readonly ModelMessage[]): Decision[] {
  const last = messages.at(-1);
  if (last?.role !== "tool") return [];
  const said = messages.flatMap((message) =>
    message.role === "assistant" && typeof message.content !== "string" ? message.content : [],
  );
  const calls = new Map(said.flatMap((part) => (part.type === "tool-call" ? [[part.toolCallId, part]] : [])));
  const requests = new Map(
    said.flatMap((part) => (part.type === "tool-approval-request" ? [[part.approvalId, part]] : [])),
  );
  // That a denied call was not run is not a result of it.
  const done = new Set(
    last.content.flatMap((part) =>
      part.type === "tool-result" && part.output.type !== "execution-denied" ? [part.toolCallId] : [],
    ),
  );
  const decisions = new Map<string, Decision>();
  for (const part of last.content) {
    if (part.type !== "tool-approval-response") continue;
    const { approvalId, approved } = part;
    const request = requests.get(approvalId);
    const toolCall = request && calls.get(request.toolCallId);
    if (request === undefined || toolCall === undefined) {
      return refuse("an approval does not belong to a tool call");
    }
    const { toolCallId } = toolCall;
    if (done.has(toolCallId) || decisions.has(toolCallId)) continue;
    decisions.set(toolCallId, { approvalId, approved, toolCall, signature: request.signature });
  }
  return [...decisions.values()];
}

function refuse(problem: string): never {
  throw new InputValidationError({ detail: `input: ${problem}` });
}
