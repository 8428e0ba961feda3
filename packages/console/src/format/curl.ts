// A call of the server as a command for a shell.

/** The token is left for the reader to fill in. */
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

/** Read by any POSIX shell as exactly this. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
