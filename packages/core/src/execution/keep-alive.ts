// Keeps the process alive while somebody waits: a sleeping execution has no timer or socket that would.

export class KeepAlive {
  #holders = 0;
  #timer: NodeJS.Timeout | undefined;

  hold(): void {
    // It never has anything to do: the longest period that a timer takes.
    if (this.#holders++ === 0) this.#timer = setInterval(() => undefined, 2 ** 31 - 1);
  }

  release(): void {
    if (--this.#holders === 0) clearInterval(this.#timer);
  }
}
