// Collects the conditions of a query with the values they are bound to.
import type { SQLInputValue } from "node:sqlite";

export class Where {
  readonly #conditions: string[] = [];
  readonly values: SQLInputValue[] = [];

  /** Adds a condition, unless its value is not asked for. */
  add(condition: string, ...values: readonly (SQLInputValue | undefined)[]): this {
    const bound = values.filter((value) => value !== undefined);
    if (bound.length < values.length) return this;
    this.#conditions.push(condition);
    this.values.push(...bound);
    return this;
  }

  toString(): string {
    return this.#conditions.length === 0 ? "" : `where ${this.#conditions.join(" and ")}`;
  }
}
