// Errors in the definitions of the host application: thrown while it defines or registers, never to an HTTP caller.
import { AndanteError } from "./andante-error.ts";

/** A workflow, step or agent is defined wrongly. `where` says which one. */
export class DefinitionError extends AndanteError {
  constructor({ where, problem }: { where: string; problem: string }) {
    super(`${where}: ${problem}`, { code: "definition", status: 500 });
  }
}

/** An option of Andante has a value that it cannot work with. */
export class OptionError extends AndanteError {
  constructor({ option, problem }: { option: string; problem: string }) {
    super(`Option ${option}: ${problem}`, { code: "option", status: 500 });
  }
}

/** The host runs on a Node that is too old. */
export class NodeVersionError extends AndanteError {
  constructor({ needed, version }: { needed: string; version: string }) {
    super(`Node ${needed} or later is needed (this is ${version})`, { code: "node-version", status: 500 });
  }
}

/** An option that does not exist, probably misspelled. */
export class UnknownOptionError extends AndanteError {
  constructor(details: {
    where: string;
    option: string;
    suggestion: string | undefined;
    known: readonly string[];
  }) {
    const { where, option, suggestion, known } = details;
    const cure =
      suggestion === undefined ? `the options are ${known.join(", ")}` : `did you mean "${suggestion}"?`;
    super(`${where}: unknown option "${option}"; ${cure}`, { code: "unknown-option", status: 500 });
  }
}
