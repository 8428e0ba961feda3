// Gates that hold the bodies and models of tests until a test opens them.

/** Gates by name: a body that comes to one waits until the test opens it. */
class Gates {
  readonly #gates = new Map<
    string,
    { arrived: PromiseWithResolvers<void>; opened: PromiseWithResolvers<void> }
  >();
  /** How many bodies have come to each gate. */
  readonly arrivals = new Map<string, number>();

  #gate(name: string) {
    const known = this.#gates.get(name);
    if (known !== undefined) return known;
    const gate = { arrived: Promise.withResolvers<void>(), opened: Promise.withResolvers<void>() };
    this.#gates.set(name, gate);
    return gate;
  }

  /** For bodies: waits until the gate is open. */
  pass(name: string): Promise<void> {
    const gate = this.#gate(name);
    this.arrivals.set(name, (this.arrivals.get(name) ?? 0) + 1);
    gate.arrived.resolve();
    return gate.opened.promise;
  }

  /** For tests: resolves when a body waits at the gate. */
  arrival(name: string): Promise<void> {
    return this.#gate(name).arrived.promise;
  }

  open(name: string): void {
    this.#gate(name).opened.resolve();
  }
}

export const gates = new Gates();
