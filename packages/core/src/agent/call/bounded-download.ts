// Loads the files that one call of an agent names by address, within its budget.
//
// The AI SDK's own function loads each. It refuses private addresses, also behind redirects and names.
import { createDownload, DownloadError } from "ai";
import type { FileBudget } from "./file-budget.ts";

/** Loads a file, or rejects. */
export type Download = ReturnType<typeof createDownload>;

/** `create` makes a function that loads at most so many bytes. */
export function boundedDownload(
  budget: FileBudget,
  create: (limit: { maxBytes: number }) => Download = createDownload,
): Download {
  return ({ url, abortSignal }) =>
    budget.load(
      ({ maxBytes, signal }) =>
        create({ maxBytes })({
          url,
          abortSignal: abortSignal === undefined ? signal : AbortSignal.any([abortSignal, signal]),
        }),
      isTooLong,
    );
}

/** The AI SDK's error for too many bytes has neither a status nor a cause, as has the one for an address that is not allowed. */
function isTooLong(error: unknown): boolean {
  return DownloadError.isInstance(error) && error.statusCode === undefined && error.cause === undefined;
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
