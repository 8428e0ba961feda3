// An iterator whose reader may go away at any moment, also before it has begun and while it waits.

/** `drop` is called when the reader leaves early; the generator is then run to its end, so that it can clean up. */
export function stopWhenAbandoned<T>(
  generator: AsyncGenerator<T>,
  drop: () => void,
): AsyncIterableIterator<T> {
  let over = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const result = await generator.next();
      if (result.done === true) over = true;
      return result;
    },
    async return() {
      if (!over) drop();
      // `generator.return()` would run nothing at all when it has not begun.
      for (let done = over; !done; ) done = (await generator.next()).done === true;
      over = true;
      return { done: true, value: undefined };
    },
  };
}
