// The longest text that is shown as markdown. Longer text would be drawn as tens of thousands of elements, and stays plain.

export const longestText = 200_000;
