// An iterator whose reader may leave at any moment, also before the first part and while it waits for one.

/** `stop` is called when the reader leaves early; the generator then runs to its end, so that it can clean up. */
export function stopWhenAbandoned<T>(
  generator: AsyncGenerator<T>,
  stop: () => void,
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
      if (!over) stop();
      // `generator.return()` would run nothing at all when it has not begun.
      for (let done = over; !done; ) done = (await generator.next()).done === true;
      over = true;
      return { done: true, value: undefined };
    },
  };
}
