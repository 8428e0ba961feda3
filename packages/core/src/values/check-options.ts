// Refuses options that do not exist, so that a misspelled one is not silently ignored.
import { InvalidOptionError, OptionError, UnknownOptionError, UnserializableError } from "../errors/index.ts";
import { type JsonText, toJson } from "./json.ts";

/** The names of a type's options. The compiler holds the list complete: a missing or a superfluous name is an error. */
export type KnownOptions<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Throws at the first option that is not among the known ones; a value that is not an object has none. `where` names the
 * function that is called or the thing that is defined.
 */
export function checkKnownOptions(
  where: string,
  given: unknown,
  known: Readonly<Record<string, true>>,
): void {
  if (typeof given !== "object" || given === null) return;
  const names = Object.keys(known);
  for (const option of Object.keys(given)) {
    if (known[option] === true) continue;
    throw new UnknownOptionError({ where, option, suggestion: closest(option, names), known: names });
  }
}

/**
 * The same for an option that holds further ones, such as `limits`: it is absent or an object. Anything else would be
 * read as an object without options, and the intention of the host would be ignored.
 */
export function checkOptionGroup(
  option: string,
  given: unknown,
  known: Readonly<Record<string, true>>,
  expected = "an object",
): void {
  if (given === undefined) return;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new OptionError({ option, problem: `expected ${expected}` });
  }
  checkKnownOptions(option, given, known);
}

/** The value of a caller's option as JSON text; one that JSON cannot hold is refused with the place of the misfit. */
export function optionJson(option: string, value: unknown): JsonText {
  try {
    return toJson(value, option);
  } catch (error) {
    if (!(error instanceof UnserializableError)) throw error;
    throw new InvalidOptionError({ option, problem: error.message });
  }
}

/** Two letters off is a slip of the finger; more is another word. */
const maxEdits = 2;
/** A name may be guessed by its beginning, but not by a letter or two. */
const minPrefixLength = 4;

/** The name that was probably meant; undefined when none is near. */
function closest(option: string, names: readonly string[]): string | undefined {
  const wanted = option.toLowerCase();
  const maxHere = Math.min(maxEdits, Math.floor(wanted.length / 3));
  let best: { name: string; edits: number } | undefined;
  for (const name of names) {
    const edits = editDistance(wanted, name.toLowerCase());
    if (edits <= maxHere && (best === undefined || edits < best.edits)) best = { name, edits };
  }
  return best?.name ?? names.find((name) => isBeginning(wanted, name.toLowerCase()));
}

function isBeginning(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return short.length >= minPrefixLength && long.startsWith(short);
}

/** Letters added, left out, changed, or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}

/** A whole number from 1 to `most`; `usual` when it is not given. */
export function countOption(option: string, value: number | undefined, usual: number, most: number): number {
  if (value === undefined) return usual;
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new OptionError({ option, problem: `expected a whole number from 1 to ${most}` });
  return value;
}
