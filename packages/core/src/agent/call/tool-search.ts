// The AI SDK's `toolSearch()`: the AI SDK runs it by itself, so it is recorded where it calls its search function.
import type { ToolSet } from "ai";
import { propertyOf } from "../../values/fields.ts";

// The AI SDK's own marks of the tool.
const mark = Symbol.for("vercel.ai.toolSearch");
const searchFunction = Symbol.for("vercel.ai.toolSearch.search");

export interface ToolQuery {
  readonly query: string;
  readonly tools: readonly { readonly name: string; readonly description?: string }[];
}

/** Returns the names of tools that fit the query, the best first. */
export type SearchTools = (options: ToolQuery) => unknown;

export function isToolSearch(tool: ToolSet[string]): boolean {
  return propertyOf(tool, mark) === true;
}

/** The host's search function of the tool, else one that ranks as the AI SDK's own does. */
export function searchOf(tool: ToolSet[string]): SearchTools {
  const own = propertyOf(tool, searchFunction);
  return typeof own === "function" ? (options) => Reflect.apply(own, undefined, [options]) : rankByWords;
}

/** The same tool with another search function. */
export function withSearch(tool: ToolSet[string], search: SearchTools): ToolSet[string] {
  return Object.assign({ ...tool }, { [searchFunction]: search });
}

/** A word of the query counts twice in a name and once in a description. */
function rankByWords({ query, tools }: ToolQuery): string[] {
  const wanted = new Set(wordsOf(query));
  const hits = (text: string) => [...new Set(wordsOf(text))].filter((word) => wanted.has(word)).length;
  return tools
    .map(({ name, description = "" }) => ({ name, score: 2 * hits(name) + hits(description) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ name }) => name);
}

function wordsOf(text: string): string[] {
  const separate = text.replace(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase();
  return separate.match(/[\p{L}\p{N}]+/gu) ?? [];
}

interface StartedCall {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
}

/** The searches that the AI SDK has started and that have not called their search function: it gets no id of its call. */
export class ToolSearches {
  readonly #started: StartedCall[] = [];

  readonly #names: ReadonlySet<string>;

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
  }

  started(call: StartedCall): void {
    if (this.#names.has(call.toolName)) this.#started.push(call);
  }

  /** The call that searches for this; undefined for a search from inside of another tool. */
  take(toolName: string, query: string): StartedCall | undefined {
    const index = this.#started.findIndex(
      (call) => call.toolName === toolName && propertyOf(call.input, "query") === query,
    );
    return index < 0 ? undefined : this.#started.splice(index, 1)[0];
  }
}

/** Undefined where no tool searches. */
export function toolSearches(tools: ToolSet): ToolSearches | undefined {
  const names = Object.keys(tools).filter((name) => {
    const tool = tools[name];
    return tool !== undefined && isToolSearch(tool);
  });
  return names.length === 0 ? undefined : new ToolSearches(names);
}
