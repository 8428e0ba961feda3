// The logger of servers in tests, whose failures are intended.
import { createLogger } from "@andante/core";

export const silentLogger = createLogger({ level: "silent" });
