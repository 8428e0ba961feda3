// Loads the files that one call of an agent names by address, within bounds of size and time.
//
// The AI SDK's own function loads each. It refuses private addresses, also behind redirects and names.
import { createDownload } from "ai";

/** Loads a file, or rejects. */
export type Download = ReturnType<typeof createDownload>;

/** Bytes of all files together: models take no more. */
const maxBytes = 100 * 1024 * 1024;
/** Milliseconds that loading one file may take. */
const maxTime = 30_000;

/**
 * A function that loads each address once. One file is loaded at a time, so that no more than `bytes` of all of them are in
 * memory. `create` makes a function that loads at most so many bytes.
 */
export function boundedDownload(
  { bytes = maxBytes, milliseconds = maxTime } = {},
  create: (limit: { maxBytes: number }) => Download = createDownload,
): Download {
  let left = bytes;
  let last: Promise<unknown> = Promise.resolve();
  const loaded = new Map<string, ReturnType<Download>>();
  const load: Download = async ({ url, abortSignal }) => {
    const timeout = AbortSignal.timeout(milliseconds);
    const signal = abortSignal === undefined ? timeout : AbortSignal.any([abortSignal, timeout]);
    const file = await create({ maxBytes: left })({ url, abortSignal: signal });
    left -= file.data.byteLength;
    return file;
  };
  return (file) => {
    const known = loaded.get(file.url.href);
    if (known !== undefined) return known;
    const next = () => load(file);
    const loading = last.then(next, next);
    last = loading;
    loaded.set(file.url.href, loading);
    return loading;
  };
}

/** The same for all files of a prompt, as the AI SDK asks for them before each call of the model. */
export function downloadAll(download: Download, abortSignal: AbortSignal) {
  return (files: readonly { readonly url: URL; readonly isUrlSupportedByModel: boolean }[]) =>
    Promise.all(
      files.map(({ url, isUrlSupportedByModel }) =>
        isUrlSupportedByModel ? null : download({ url, abortSignal }),
      ),
    );
}
