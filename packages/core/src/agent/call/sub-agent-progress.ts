// How far a sub-agent has come, as whoever reads the reply of the agent above sees it.
import type { TextStreamPart, ToolSet } from "ai";

/** A tool call of the sub-agent. */
export interface SubAgentCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly state: "running" | "done" | "failed";
}

/** A preliminary result of a sub-agent's tool; the last result is its text alone. */
export interface SubAgentView {
  readonly text: string;
  readonly toolCalls: readonly SubAgentCall[];
}

/** A text is shown again when it has grown by this many characters and by a quarter: all showings stay linear. */
const minGrowth = 40;

export class SubAgentProgress {
  #text = "";
  #shown = 0;
  readonly #calls = new Map<string, SubAgentCall>();

  /** What it has said in its last step. */
  get text(): string {
    return this.#text;
  }

  get view(): SubAgentView {
    this.#shown = this.#text.length;
    return { text: this.#text, toolCalls: [...this.#calls.values()] };
  }

  /** True when there is something to show. */
  add(part: TextStreamPart<ToolSet>): boolean {
    switch (part.type) {
      case "start-step":
        this.#text = "";
        this.#shown = 0;
        return false;
      case "text-delta":
        this.#text += part.text;
        return this.#text.length - this.#shown >= Math.max(minGrowth, this.#shown / 4);
      case "tool-call":
        return this.#call(part, "running");
      case "tool-result":
        return part.preliminary !== true && this.#call(part, "done");
      case "tool-error":
        return this.#call(part, "failed");
      default:
        return false;
    }
  }

  #call({ toolCallId, toolName, input }: Omit<SubAgentCall, "state">, state: SubAgentCall["state"]): boolean {
    this.#calls.set(toolCallId, { toolCallId, toolName, input, state });
    return true;
  }
}
