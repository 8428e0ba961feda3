// Which versions of Node are accepted; scripts/build.ts tries the built packages on the machine's own Node.
import { expect, test } from "vitest";
import { NodeVersionError } from "./errors/index.ts";
import { requireNode } from "./require-node.ts";

test.each(["v22.13.0", "v22.20.1", "v23.0.0", "v24.21.0", "v100.0.0"])("%s is accepted", (version) => {
  expect(() => requireNode(version)).not.toThrow();
});

test.each(["v18.20.8", "v20.20.2", "v22.12.0"])("%s is refused", (version) => {
  expect(() => requireNode(version)).toThrow(NodeVersionError);
  expect(() => requireNode(version)).toThrow(`Node 22.13 or later is needed (this is ${version})`);
});
