// For files that share a process: each gets our modules anew, because some keep state; those of node_modules are loaded once.
import { vi } from "vitest";

vi.resetModules();
