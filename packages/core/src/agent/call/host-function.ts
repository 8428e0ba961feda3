// Calls the functions of a host that take part in a reply: their errors are the host's fault, not the provider's.
import { AgentFunctionError, AndanteError } from "../../errors/index.ts";
import { LoopLeftError } from "../../values/loop-left-error.ts";

/** The result of the function. `name` is the option that it was given as. */
export async function callHost<T>(name: string, call: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    throw hostFailure(name, thrown);
  }
}

/** The same for a function that returns at once. */
export function callHostNow<T>(name: string, call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    throw hostFailure(name, thrown);
  }
}

/** The function, with its failures reported as the host's. */
export function hostFunction<Given extends unknown[], T>(
  name: string,
  call: (...given: Given) => T | PromiseLike<T>,
): (...given: Given) => Promise<T> {
  return (...given) => callHost(name, () => call(...given));
}

/** An error that is ours passes as it is: a `PublicError` has words for the caller. */
function hostFailure(option: string, thrown: unknown): unknown {
  if (thrown instanceof AndanteError || thrown instanceof LoopLeftError) return thrown;
  return new AgentFunctionError({ option, cause: thrown });
}
