// The values of statements as the text that is sent: made before anything is sent, so that none fails half-way.
//
// An error while a pipelined statement is built never reaches the database, whose transaction then knows nothing of it:
// the commit behind it would keep the others.

export type Statement = readonly [text: string, values: readonly unknown[]];

/** Characters of the values of one statement: at three bytes each, well below the gigabyte that the database takes. */
const maxLength = 256 * 1024 * 1024;

/** The same statements with text in place of arrays; rejects with a RangeError when they are too long to be sent. */
export function inText(statements: readonly Statement[], most = maxLength): Statement[] {
  return statements.map(([statement, values]) => {
    const texts = values.map(textOf);
    const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
    if (length > most) throw new RangeError(`${length} characters are too many for one statement`);
    return [statement, texts];
  });
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return Array.isArray(value) ? `{${value.map(elementOf).join(",")}}` : String(value);
}

function elementOf(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  // Two constant replacements are faster than one with a class of characters.
  return `"${String(value).replace(/\\/g, "\\\\").replace(/"/g, '\\"')}"`;
}
