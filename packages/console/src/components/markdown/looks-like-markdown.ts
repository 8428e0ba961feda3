// Whether a string looks like markdown: it has marks that are rare in plain text and data.

/** The longest text that is rendered as markdown. A longer one, with tens of thousands of elements, stays plain. */
export const longestText = 200_000;

const looked = 20_000;
const marks: readonly RegExp[] = [
  /^ {0,3}#{1,6} \S/m,
  /^ {0,3}(```|~~~)/m,
  /\*\*\S[^*\n]*\*\*/,
  /\[[^\][\n]{1,200}\]\(https?:\/\/[^\s)]+\)/,
  /^ {0,3}\|?[ \t]*:?-{3,}:?[ \t]*\|/m,
  /^ {0,3}[-*+] \S.*\n\s{0,9}[-*+] \S/m,
  /^ {0,3}1[.)] \S.*\n\s{0,9}2[.)] \S/m,
];

export function looksLikeMarkdown(text: string): boolean {
  if (text.length > longestText) return false;
  const start = text.slice(0, looked);
  return marks.some((mark) => mark.test(start));
}
