// A write of a conversation that is repeated because its result was lost: returns the first result and changes nothing.
import type { DatabaseSync } from "node:sqlite";
import { text } from "../../columns.ts";

/** Milliseconds that a result is kept: a write is repeated at once or never. */
const keptFor = 600_000;

/** Makes a write with a key repeatable. */
export function recordedOnce<Argument, Result>(
  make: (database: DatabaseSync) => (argument: Argument) => Result,
) {
  return (database: DatabaseSync) => {
    const write = make(database);
    const find = database.prepare("select result from conversation_writes where write_key = ?");
    const insert = database.prepare(
      "insert into conversation_writes (write_key, result, written_at) values (?, ?, ?)",
    );
    const forget = database.prepare("delete from conversation_writes where written_at < ?");
    return (argument: Argument & { readonly key: string }): Result => {
      const first = find.get(argument.key);
      if (first !== undefined) return JSON.parse(text(first, "result"));
      const result = write(argument);
      const now = Date.now();
      forget.run(now - keptFor);
      insert.run(argument.key, JSON.stringify(result), now);
      return result;
    };
  };
}
