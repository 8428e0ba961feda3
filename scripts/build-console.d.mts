// The types of build-console.mjs, which is plain JavaScript.
/** Builds the console unless it is up to date. Returns what went wrong; undefined when nothing did. */
export function buildConsole(node: string, tell?: () => void): string | undefined;
