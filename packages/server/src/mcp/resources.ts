// Resources: journals of executions and messages of conversations that the caller may see.
import { AndanteError } from "@andante/core";
import { ForbiddenError } from "../errors/auth-errors.ts";
import { rowOf } from "../exposed/inner-call.ts";
import { isObject } from "../is-object.ts";
import type { McpCall } from "./call.ts";
import type { Result } from "./results.ts";

type Fields = Readonly<Record<string, unknown>>;

const mimeType = "application/json";
const pageLength = 50;

interface Kind {
  readonly path: string;
  readonly list: string;
  /** The field of a page with its entries, and the field of an entry with its id. */
  readonly entries: string;
  readonly id: string;
  readonly read: string;
  readonly template: Fields;
  title(entry: Fields): string;
}

const kinds: readonly Kind[] = [
  {
    path: "andante://executions/",
    list: "listExecutions",
    entries: "executions",
    id: "executionId",
    read: "findExecutionEvents",
    template: {
      name: "journal",
      title: "The journal of an execution",
      uriTemplate: "andante://executions/{id}",
    },
    title: ({ workflowId, status }) => `Execution of ${workflowId}, ${status}`,
  },
  {
    path: "andante://conversations/",
    list: "listConversations",
    entries: "conversations",
    id: "conversationId",
    read: "listMessages",
    template: {
      name: "conversation",
      title: "The messages of a conversation",
      uriTemplate: "andante://conversations/{id}",
    },
    title: ({ title, agentId }) =>
      typeof title === "string" && title !== "" ? title : `Conversation with ${agentId}`,
  },
];

export function listTemplates(): Result {
  return { resourceTemplates: kinds.map(({ template }) => ({ ...template, mimeType })) };
}

/** A page: first executions, then conversations. The cursor names the list and its own cursor. */
export async function listResources(call: McpCall, { cursor }: Fields): Promise<Result> {
  const { ProtocolError, ProtocolErrorCode } = call.sdk;
  const [, index = "0", rest = ""] = /^([01]):(.*)$/s.exec(typeof cursor === "string" ? cursor : "0:") ?? [];
  const kind = kinds[Number(index)];
  if (kind === undefined || (cursor !== undefined && (typeof cursor !== "string" || !/^[01]:/.test(cursor))))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor");
  const query = { limit: pageLength, ...(rest !== "" && { cursor: rest }) };
  const page = await call.ask(rowOf(kind.list), { params: {}, query }).catch((error: unknown) => {
    if (error instanceof ForbiddenError) return {};
    throw error;
  });
  const found = isObject(page) ? page[kind.entries] : [];
  const resources = (Array.isArray(found) ? found : []).filter(isObject).map((entry) => ({
    uri: kind.path + encodeURIComponent(String(entry[kind.id])),
    name: String(entry[kind.id]),
    title: kind.title(entry),
    mimeType,
  }));
  const next =
    isObject(page) && typeof page.nextCursor === "string" ? `${index}:${page.nextCursor}` : undefined;
  const nextCursor = next ?? (index === "0" ? "1:" : undefined);
  return { resources, ...(nextCursor !== undefined && { nextCursor }) };
}

/** The first thousand events of a journal, or the first page of messages; further ones with `?after=`. */
export async function readResource(call: McpCall, { uri }: Fields): Promise<Result> {
  const { ResourceNotFoundError, ProtocolError, ProtocolErrorCode } = call.sdk;
  if (typeof uri !== "string")
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "uri: expected a string");
  const kind = kinds.find(({ path }) => uri.startsWith(path));
  const [, id = "", after] = /^([^/?#]+)(?:\?after=(\d{1,15}))?$/.exec(uri.slice(kind?.path.length)) ?? [];
  if (kind === undefined || id === "") throw new ResourceNotFoundError(uri);
  try {
    const query = after === undefined ? {} : { after };
    const params = { [kind.id]: decodeURIComponent(id) };
    const data = await call.ask(rowOf(kind.read), { params, query });
    return { contents: [{ uri, mimeType, text: JSON.stringify(data) }] };
  } catch (error) {
    const isHidden = error instanceof AndanteError && [400, 403, 404].includes(error.status);
    if (isHidden || error instanceof URIError) throw new ResourceNotFoundError(uri);
    throw error;
  }
}
