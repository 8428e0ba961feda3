// The operation as one call of a tool sees it: with the place where that call is recorded.
import type { ToolCall } from "../durable/tool-call.ts";
import type { DataChunk } from "./data-writer.ts";
import { type AgentUsage, type CountedTokens, Operation, oneCall } from "./operation.ts";

export class ToolOperation extends Operation {
  readonly executionId: string;
  readonly stepPath: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly emit: (type: string, data?: unknown) => void;
  readonly #above: Operation;
  readonly #call: ToolCall;

  constructor(above: Operation, call: ToolCall) {
    super(above, { telemetry: above.telemetry, loop: above.loop?.inside(call.place) });
    this.#above = above;
    this.#call = call;
    this.executionId = call.executionId;
    this.stepPath = call.path;
    this.attempt = call.attempt;
    this.idempotencyKey = call.idempotencyKey;
    this.emit = (type, data) => call.emit(type, data);
    this.mustStop = above.mustStop;
  }

  override writeChunk(chunk: DataChunk): void {
    this.#call.wrote(chunk);
    this.#above.writeChunk(chunk);
  }

  override get usage(): AgentUsage {
    return this.#above.usage;
  }

  override add(used: AgentUsage): void {
    this.#above.add(used);
  }

  override countUnrecorded(told: CountedTokens): void {
    this.count(told);
    this.#call.used(oneCall(told));
    this.usedBy(this.#call);
  }

  override usedBy(call: ToolCall): void {
    this.#above.usedBy(call);
  }
}
