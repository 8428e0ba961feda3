// Collects the conditions of a query with the values they are bound to.

export class Where {
  readonly #conditions: string[] = [];
  readonly values: unknown[] = [];

  /** Adds a condition, unless one of its values is undefined. Each `?` is replaced by the next value. */
  add(condition: string, ...values: readonly unknown[]): this {
    if (values.includes(undefined)) return this;
    const bound = values.toReversed();
    this.#conditions.push(
      condition.replaceAll("?", () => {
        this.values.push(bound.pop());
        return `$${this.values.length}`;
      }),
    );
    return this;
  }

  /** The place of one more value. */
  bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  toString(): string {
    return this.#conditions.length === 0 ? "" : `where ${this.#conditions.join(" and ")}`;
  }
}
