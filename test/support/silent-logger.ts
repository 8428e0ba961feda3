// The logger of servers in tests: what fails in them fails on purpose.
import { createLogger } from "@andante/core";

export const silentLogger = createLogger({ level: "silent" });
