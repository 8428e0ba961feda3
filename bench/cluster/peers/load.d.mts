/** Says that the process is ready, and runs `execute` as often as it can when it is asked to. */
export function serveLoad(execute: () => Promise<void>): void;
