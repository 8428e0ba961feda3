// Errors in what the host application wrote: thrown while it defines or registers, never to an HTTP caller.
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
