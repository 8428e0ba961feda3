// Reads the fields of a JSON object and checks their types: damaged data is rejected where it is read.

export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #fail: (problem: string) => Error;

  /** `fail` makes the error, which names the location. */
  constructor(value: unknown, fail: (problem: string) => Error) {
    if (!isRecord(value)) throw fail("it is not a JSON object");
    this.#values = value;
    this.#fail = fail;
  }

  /** Null is an object without fields. */
  static parse(text: string | null, fail: (problem: string) => Error): Fields {
    if (text === null) return new Fields(none, fail);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw fail("it is not JSON");
    }
    return new Fields(value, fail);
  }

  text(name: string): string {
    return this.optionalText(name) ?? this.#missing(name, "a text");
  }

  number(name: string): number {
    return this.optionalNumber(name) ?? this.#missing(name, "a number");
  }

  /** Undefined where it is absent or has another type. */
  optionalText(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  optionalNumber(name: string): number | undefined {
    const value = this.#values[name];
    return typeof value === "number" ? value : undefined;
  }

  /** A value of any type; undefined where it is absent. */
  value(name: string): unknown {
    return this.#values[name];
  }

  isTrue(name: string): boolean {
    return this.#values[name] === true;
  }

  /** Undefined where it is absent. */
  object(name: string): Fields | undefined {
    const value = this.#values[name];
    if (value === undefined) return undefined;
    return new Fields(value, (problem) => this.#fail(`the field ${name}: ${problem}`));
  }

  #missing(name: string, type: string): never {
    throw this.#fail(`the field ${name} is not ${type}`);
  }
}

const none: Readonly<Record<string, unknown>> = {};

/** The property of a value of any type; undefined where it has none. */
export function propertyOf(value: unknown, name: PropertyKey): unknown {
  return hasProperties(value) ? value[name] : undefined;
}

function hasProperties(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** The object in a JSON text that was stored. `subject` names its place in the error. */
export function parseObject(text: string, subject: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new TypeError(`${subject} is not a JSON object`);
  return value;
}

/** An object that is not an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
