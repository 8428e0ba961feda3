// The types of build-console.mjs, which is plain JavaScript.
/** Builds the console unless it is up to date. Returns the problem, or undefined after a success. */
export function buildConsole(node: string, tell?: () => void): string | undefined;
