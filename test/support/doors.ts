// Doors that hold the bodies and models of tests until a test opens them.

/** Doors by name: a body that comes to one waits until the test opens it. */
class Doors {
  readonly #doors = new Map<
    string,
    { arrived: PromiseWithResolvers<void>; opened: PromiseWithResolvers<void> }
  >();
  /** How many bodies have come to each door. */
  readonly arrivals = new Map<string, number>();

  #door(name: string) {
    const known = this.#doors.get(name);
    if (known !== undefined) return known;
    const door = { arrived: Promise.withResolvers<void>(), opened: Promise.withResolvers<void>() };
    this.#doors.set(name, door);
    return door;
  }

  /** For bodies: waits until the door is open. */
  pass(name: string): Promise<void> {
    const door = this.#door(name);
    this.arrivals.set(name, (this.arrivals.get(name) ?? 0) + 1);
    door.arrived.resolve();
    return door.opened.promise;
  }

  /** For tests: resolves when a body stands at the door. */
  arrival(name: string): Promise<void> {
    return this.#door(name).arrived.promise;
  }

  open(name: string): void {
    this.#door(name).opened.resolve();
  }
}

export const doors = new Doors();
