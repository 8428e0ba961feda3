// Tags: short strings that mark executions, so that lists can find them.

export const maxTags = 20;
const maxTagLength = 100;

/** The problem of tags that are not valid; undefined when they are. */
export function problemWithTags(tags: unknown): string | undefined {
  if (!Array.isArray(tags)) return "expected an array of strings";
  if (tags.length > maxTags) return `expected at most ${maxTags} tags`;
  return tags.every(isTag)
    ? undefined
    : `expected strings of 1 to ${maxTagLength} characters without control characters`;
}

/** All of them as one, each tag once, in order. */
export function joinTags(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

// Databases keep neither half a character nor, some of them, a NUL.
function isTag(tag: unknown): boolean {
  if (typeof tag !== "string" || tag === "" || tag.length > maxTagLength) return false;
  return !/\p{Cc}/u.test(tag) && tag.isWellFormed();
}
