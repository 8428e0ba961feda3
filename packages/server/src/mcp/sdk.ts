// The official SDK of the protocol, an optional peer: loaded when `mcp` is configured.
import { createRequire } from "node:module";
import { OptionError } from "@andante/core/errors";

export type Sdk = typeof import("@modelcontextprotocol/server");

const name = "@modelcontextprotocol/server";

/** Throws where the package is not installed, without loading it. */
export function checkSdk(): void {
  try {
    createRequire(import.meta.url).resolve(name);
  } catch {
    throw new OptionError({ option: "mcp", problem: `install the package ${name}` });
  }
}

let loading: Promise<Sdk> | undefined;

export function loadSdk(): Promise<Sdk> {
  loading ??= import("@modelcontextprotocol/server");
  return loading;
}
