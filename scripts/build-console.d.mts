// The types of build-console.mjs, which is plain JavaScript.
/** Builds the console unless it is up to date. Returns the problem, or undefined after a success. */
export function buildConsole(node: string, tell?: () => void): string | undefined;
/** A hash of the names and contents of files and of those in folders. */
export function hashOf(places: readonly string[]): string;
