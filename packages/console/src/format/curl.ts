// A request to the server as a shell command.

/** The token is a placeholder for the user to fill in. */
export function curlCommand(
  address: string,
  { body, hasToken }: { readonly body?: unknown; readonly hasToken: boolean },
): string {
  const parts = [`curl -s ${shellWord(address)}`];
  if (hasToken) parts.push(`-H "Authorization: Bearer $TOKEN"`);
  if (body !== undefined)
    parts.push("-H 'Content-Type: application/json'", `-d ${shellWord(JSON.stringify(body))}`);
  return parts.join(" \\\n  ");
}

/** Quotes the text for a POSIX shell. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
