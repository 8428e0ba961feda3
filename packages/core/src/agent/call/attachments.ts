// Files that messages name by address: loaded before anything is kept, and noted as gone when they cannot be any more.
//
// An address that the model's provider loads by itself is left to it.
import type { FileUIPart, UIMessage } from "ai";
import { FilesBusyError, InputValidationError } from "../../errors/index.ts";
import { boundedDownload, type Download } from "./bounded-download.ts";
import type { FileBudget } from "./file-budget.ts";

/** The addresses that the provider loads by itself: patterns for each media type, as models of the AI SDK list them. */
export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

type Part = UIMessage["parts"][number];

export class Attachments {
  readonly #supported: () => SupportedUrls | Promise<SupportedUrls>;
  readonly #signal: AbortSignal;
  readonly #budget: FileBudget;
  readonly #download: Download;
  readonly #loaded = new Map<string, Promise<string>>();

  /** `supported` is asked when there is a file to load. */
  constructor(
    supported: () => SupportedUrls | Promise<SupportedUrls>,
    signal: AbortSignal,
    budget: FileBudget,
    download: Download = boundedDownload(budget),
  ) {
    this.#supported = supported;
    this.#signal = signal;
    this.#budget = budget;
    this.#download = download;
  }

  /** Throws when a file of the message cannot be loaded. */
  async check(message: UIMessage): Promise<void> {
    const mustLoad = await this.#loads([message]);
    for (const part of message.parts) {
      if (part.type !== "file") continue;
      try {
        if (isInline(part.url)) checkBase64(part.url);
        else if (mustLoad(part)) await this.#load(part);
      } catch (error) {
        this.#throwIfPassing(error);
        const name = part.filename ?? part.mediaType;
        throw new InputValidationError({
          detail: `input: the file ${name} could not be loaded from its URL`,
        });
      }
    }
  }

  /** Releases the loaded files while the call waits; they are loaded again when needed. */
  forget(): void {
    this.#loaded.clear();
    this.#budget.restore();
  }

  /** The messages with each file in place of its address, or a note where it cannot be loaded. */
  async resolve(messages: readonly UIMessage[]): Promise<readonly UIMessage[]> {
    if (!messages.some(({ parts }) => parts.some(hasAddress))) return messages;
    const mustLoad = await this.#loads(messages);
    return Promise.all(
      messages.map(async (message) => ({
        ...message,
        parts: await Promise.all(
          message.parts.map((part) => (mustLoad(part) ? this.#resolvePart(part) : part)),
        ),
      })),
    );
  }

  async #resolvePart(part: FileUIPart): Promise<Part> {
    try {
      return { ...part, url: await this.#load(part) };
    } catch (error) {
      this.#throwIfPassing(error);
      const what = part.filename === undefined ? "" : ` "${part.filename}"`;
      return {
        type: "text",
        text: `[A file${what} (${part.mediaType}) was here and is no longer available.]`,
      };
    }
  }

  /** The file itself is not to blame when the call was aborted, or when other calls take the memory. */
  #throwIfPassing(error: unknown): void {
    this.#signal.throwIfAborted();
    if (error instanceof FilesBusyError) throw error;
  }

  /** As a data URL. */
  #load({ url, mediaType }: FileUIPart): Promise<string> {
    const known = this.#loaded.get(url);
    if (known !== undefined) return known;
    const loading = this.#fetch(url).then(
      (data) => `data:${mediaType};base64,${Buffer.from(data).toString("base64")}`,
    );
    this.#loaded.set(url, loading);
    return loading;
  }

  async #fetch(url: string): Promise<Uint8Array> {
    if (isData(url)) return new Uint8Array(await (await fetch(url)).arrayBuffer());
    return (await this.#download({ url: new URL(url), abortSignal: this.#signal })).data;
  }

  /** Says which parts have to be loaded here. */
  async #loads(messages: readonly UIMessage[]): Promise<(part: Part) => part is FileUIPart> {
    const supported = messages.some(({ parts }) => parts.some(hasAddress)) ? await this.#supported() : {};
    const isProviders = ({ url, mediaType }: FileUIPart) =>
      !isData(url) &&
      Object.entries(supported).some(
        ([pattern, addresses]) =>
          covers(pattern, mediaType) && addresses.some((address) => address.test(url)),
      );
    return (part): part is FileUIPart => hasAddress(part) && !isProviders(part);
  }
}

/** True for a file that must be loaded: the AI SDK takes base64 only. */
function hasAddress(part: Part): part is FileUIPart {
  return part.type === "file" && !isInline(part.url);
}

function isData(url: string): boolean {
  return /^data:/i.test(url);
}

/** Only its beginning is looked at: a history may hold many files. */
function isInline(url: string): boolean {
  return url.startsWith("data:") && url.slice(0, url.indexOf(",")).endsWith(";base64");
}

function checkBase64(url: string): void {
  if (!/^[\w+/-]*={0,2}$/.test(url.slice(url.indexOf(",") + 1))) throw new TypeError("it is not base64");
}

function covers(pattern: string, mediaType: string): boolean {
  if (pattern === "*" || pattern === "*/*") return true;
  return pattern.endsWith("/*") ? mediaType.startsWith(pattern.slice(0, -1)) : pattern === mediaType;
}
