// Each test file gets our modules anew, as in a process of its own; those of node_modules are loaded once.
import { vi } from "vitest";

vi.resetModules();
