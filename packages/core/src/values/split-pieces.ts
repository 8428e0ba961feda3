// Cuts a model's text into the small pieces in which it streams; one piece counts as one token.

/**
 * Cuts text into words, each with the white space before it (the last one keeps the white space at the end); JSON is
 * cut after every comma and colon too, because it may hold no spaces. Joined, the pieces are the text again.
 */
export function splitPieces(text: string, kind: "text" | "json"): string[] {
  if (text.trim() === "") return text === "" ? [] : [text];
  const words = text.match(/\s*\S+(?:\s+$)?/g) ?? [text];
  return kind === "text" ? words : words.flatMap((word) => word.match(/[^,:]*[,:]|[^,:]+$/g) ?? [word]);
}
