// The first import of every entry: says which Node is needed before anything fails because of an old one.
import { NodeVersionError } from "./errors/definition-errors.ts";

/** The first with `node:sqlite` and without a flag for it; also in package.json's `engines`. */
const needed = { major: 22, minor: 13 };

/** Throws when a version such as `v20.20.2` is older than the required one. */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  if (major > needed.major || (major === needed.major && minor >= needed.minor)) return;
  throw new NodeVersionError({ needed: `${needed.major}.${needed.minor}`, version });
}

requireNode(process.version);
