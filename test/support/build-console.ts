// Builds the console before the tests, unless it is built from the same sources already: then this takes 20 ms.
import { buildConsole } from "../../scripts/build-console.mjs";

export default function setup(): void {
  const problem = buildConsole(process.execPath);
  if (problem !== undefined) throw new Error(`the console could not be built:\n${problem}`);
}
