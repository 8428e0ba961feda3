// Operations prepare their statements when they are first called: preparing all of them was a tenth of the time that a
// thread needs to start, and few threads need them all.
import type { DatabaseSync } from "node:sqlite";

type Operation<Argument, Result> = (argument: Argument) => Result;

/** How an operation is bound to a database. */
export type Bind = <Argument, Result>(
  database: DatabaseSync,
  make: (database: DatabaseSync) => Operation<Argument, Result>,
) => Operation<Argument, Result>;

/** Binds an operation that is made, with its statements, by its first call. */
export const late: Bind = (database, make) => {
  let operation: ReturnType<typeof make> | undefined;
  return (argument) => {
    operation ??= make(database);
    return operation(argument);
  };
};
