// The state of an object during one call: read in few trips, changed item by item, written at the end.
//
// Each value is JSON, with the fields before it by which SQL finds it. The changes of an item count once the item has succeeded.
import type { BudgetCharge } from "@andante/core/store";
import { isRestatePromise, RestatePromise, type Serde } from "@restatedev/restate-sdk";
import { type KeyKind, kindOf } from "./layout.ts";
import { separator } from "./lines.ts";
import { changeSets, type Text } from "./sets.ts";

const text: Serde<string> = {
  contentType: "text/plain",
  serialize: (value) => Buffer.from(value),
  deserialize: (bytes) => Buffer.from(bytes).toString(),
};

/** Values that are awaited together: the SDK goes through all of them when one arrives. */
const awaitedAtOnce = 16;

/** The parts of Restate's context that read and write state. */
export interface StateReader {
  get(key: string, serde: Serde<string>): Promise<string | null>;
}
export interface StateWriter {
  set(key: string, value: string, serde: Serde<string>): void;
  clear(key: string): void;
}

export class Cells {
  readonly #context: StateReader;
  readonly #known = new Map<string, Text>();
  /** The changes of the items that have succeeded, and of the item under way. */
  readonly #changed = new Map<string, Text>();
  #changing = new Map<string, Text>();
  /** The charges of budgets by the items that have succeeded, and by the item under way. */
  readonly charged: BudgetCharge[] = [];
  #charging: readonly BudgetCharge[] = [];
  /** The error with which Restate has ended this attempt: no item may keep it for itself. */
  fault: unknown;

  constructor(context: StateReader) {
    this.#context = context;
  }

  /** Reads the values that are not known yet, in one trip. */
  async load(keys: readonly string[]): Promise<void> {
    const missing = [...new Set(keys)].filter((key) => !this.#known.has(key));
    if (missing.length === 0) return;
    try {
      const asked = missing.map((key) => this.#context.get(key, text)).filter(isRestatePromise);
      const values: (string | null)[] = [];
      for (let index = 0; index < asked.length; index += awaitedAtOnce)
        values.push(...(await RestatePromise.all(asked.slice(index, index + awaitedAtOnce))));
      for (const [index, key] of missing.entries()) this.#known.set(key, values[index] ?? null);
    } catch (error) {
      this.fault = error;
      throw error;
    }
  }

  /** A value that was loaded, as a copy of its own. */
  get<Value>(key: string): Value | undefined {
    for (const values of [this.#changing, this.#changed, this.#known]) {
      const found = values.get(key);
      if (found === null) return undefined;
      if (found !== undefined) return valueIn(found);
    }
    throw new Error(`the value ${key} was not loaded`);
  }

  async read<Value>(key: string): Promise<Value | undefined> {
    await this.load([key]);
    return this.get<Value>(key);
  }

  /** `fields`: those by which SQL finds the value. */
  set(key: string, value: unknown, ...fields: readonly (string | number)[]): void {
    this.#change(key, [...fields, JSON.stringify(value)].join(separator));
  }

  clear(key: string): void {
    this.#change(key, null);
  }

  #change(key: string, text: Text): void {
    this.#known.set(key, this.#known.get(key) ?? null);
    this.#changing.set(key, text);
  }

  /** Replaces shares of budgets, which another object keeps. */
  charge(charges: readonly BudgetCharge[]): void {
    this.#charging = [...this.#charging, ...charges];
  }

  /** Ends an item: its changes count, or are dropped. */
  end(succeeded: boolean): void {
    if (succeeded) this.charged.push(...this.#charging);
    this.#charging = [];
    if (succeeded) for (const [key, value] of this.#changing) this.#changed.set(key, value);
    this.#changing = new Map();
  }

  /**
   * Writes the changes: parts of rows and lines that find them, conversations, rows, marks, then removals. A call that is killed
   * half-way has so written each item whole or not at all, and none that is absent is found to be performed when it is sent
   * again. A set that finds rows holds old and new members until its rows are written.
   */
  async write(context: StateWriter): Promise<void> {
    const of = (kind: KeyKind) => [...this.#changed].filter(([key]) => kindOf(key) === kind);
    const made = (kind: KeyKind) => of(kind).filter(([, value]) => value !== null);
    const removed = (kind: KeyKind) => of(kind).filter(([, value]) => value === null);
    const { before, after } = await changeSets(this, of("member"));
    const first = [...made("part"), ...of("line"), ...before, ...made("head")];
    const last = [...removed("head"), ...after, ...of("mark"), ...removed("part")];
    for (const [key, value] of [...first, ...of("row"), ...last])
      if (value === null) context.clear(key);
      else context.set(key, value, text);
  }
}

/** The value after its fields. */
export function valueIn<Value>(text: string): Value {
  const value: Value = JSON.parse(text.slice(text.lastIndexOf(separator) + 1));
  return value;
}
