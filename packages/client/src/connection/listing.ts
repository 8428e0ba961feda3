// A paginated list: awaited it is one page, iterated it is every item of this and the following pages.
import type { Connection } from "./connection.ts";
import type { PageOptions } from "./options.ts";

/** The required fields of a page. */
interface Page {
  readonly nextCursor: string | null;
}

/**
 * @example
 * ```ts
 * import { createClient } from "@andante/client";
 *
 * const andante = createClient({ baseUrl: "http://localhost:3141" });
 * const { executions, nextCursor } = await andante.executions({ status: "error" });
 * for await (const execution of andante.executions({ tag: "nightly" })) console.log(execution.executionId);
 * ```
 */
export class Listing<P extends Page, Item> implements PromiseLike<P>, AsyncIterable<Item> {
  readonly #read: (cursor?: string) => Promise<P>;
  readonly #items: (page: P) => readonly Item[];

  constructor(read: (cursor?: string) => Promise<P>, items: (page: P) => readonly Item[]) {
    this.#read = read;
    this.#items = items;
  }

  // biome-ignore lint/suspicious/noThenProperty: a listing is awaited
  then<Value = P, Other = never>(
    fulfilled?: ((page: P) => Value | PromiseLike<Value>) | null,
    rejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Value | Other> {
    return this.#read().then(fulfilled, rejected);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    let cursor: string | undefined;
    do {
      const page = await this.#read(cursor);
      yield* this.#items(page);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}

/** The list at a path. All fields of the filter but the signal are sent as its query; `items` are those of a page. */
export function listing<P extends Page, Item>(
  connection: Connection,
  path: string,
  { signal, ...filter }: PageOptions,
  items: (page: P) => readonly Item[],
): Listing<P, Item> {
  const read = (cursor = filter.cursor) =>
    connection.repeat<P>({ path, query: { ...filter, cursor }, signal });
  return new Listing(read, items);
}
