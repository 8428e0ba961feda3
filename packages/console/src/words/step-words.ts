// The statuses of steps in the words that stand beside their colour.

const words: Readonly<Record<string, string>> = { error: "failed", suspended: "waiting" };

export function stepStatusWord(status: string): string {
  return words[status] ?? status;
}
