// Loads the files that one call of an agent names by address, within its budget.
import { fetchUntrustedUrl } from "@ai-sdk/provider-utils";
import { DownloadError } from "ai";
import { AndanteError } from "../../errors/index.ts";
import type { FileBounds, FileBudget } from "./file-budget.ts";

/** A loaded file. */
export interface LoadedFile {
  readonly data: Uint8Array;
  readonly mediaType: string | undefined;
}

/** Loads a file, or rejects. */
export type Download = (file: {
  readonly url: URL;
  readonly abortSignal?: AbortSignal | undefined;
}) => Promise<LoadedFile>;

type RequestFile = (url: URL, signal: AbortSignal) => Promise<Response>;

/** The AI SDK's own request: it refuses private addresses, also behind redirects and names. */
const requestFile: RequestFile = (url, abortSignal) =>
  fetchUntrustedUrl({ url: url.href, headers: { "user-agent": "andante" }, abortSignal });

export function boundedDownload(budget: FileBudget, request: RequestFile = requestFile): Download {
  return ({ url, abortSignal }) =>
    budget
      .load((bounds) => {
        const { signal } = bounds;
        const both = abortSignal === undefined ? signal : AbortSignal.any([abortSignal, signal]);
        return request(url, both).then((response) => readFile(response, url.href, bounds, both));
      })
      .catch((error: unknown) => {
        if (error instanceof AndanteError || DownloadError.isInstance(error)) throw error;
        throw new DownloadError({ url: url.href, cause: error });
      });
}

/** Reserves the length that the response names before it reads the body, and more as more bytes arrive. */
async function readFile(
  response: Response,
  url: string,
  { reserve }: FileBounds,
  signal: AbortSignal,
): Promise<LoadedFile> {
  const { status, statusText, headers, body } = response;
  try {
    if (!response.ok) throw new DownloadError({ url, statusCode: status, statusText });
    await reserve(Number(headers.get("content-length")) || 0, signal);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of body ?? []) {
      length += chunk.byteLength;
      await reserve(length, signal);
      // A copy: a short chunk may keep the whole buffer of its socket in memory.
      chunks.push(new Uint8Array(chunk));
    }
    const data = new Uint8Array(length);
    let offset = 0;
    for (const chunk of chunks) {
      data.set(chunk, offset);
      offset += chunk.byteLength;
    }
    return { data, mediaType: headers.get("content-type") ?? undefined };
  } catch (error) {
    await body?.cancel().catch(() => undefined);
    throw error;
  }
}

/** The same for all files of a prompt, as the AI SDK asks for them before each call of the model: each is loaded once. */
export function downloadAll(download: Download, abortSignal: AbortSignal) {
  const loaded = new Map<string, ReturnType<Download>>();
  const load = (url: URL) => {
    const loading = loaded.get(url.href) ?? download({ url, abortSignal });
    loaded.set(url.href, loading);
    return loading;
  };
  return (files: readonly { readonly url: URL; readonly isUrlSupportedByModel: boolean }[]) =>
    Promise.all(files.map(({ url, isUrlSupportedByModel }) => (isUrlSupportedByModel ? null : load(url))));
}
