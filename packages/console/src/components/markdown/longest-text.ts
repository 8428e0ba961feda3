// The longest text that is rendered as markdown. A longer text, with tens of thousands of elements, stays plain.

export const longestText = 200_000;
