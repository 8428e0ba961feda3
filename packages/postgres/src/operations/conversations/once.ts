// The writes of one conversation come one after the other, and one that is repeated returns its first result.
import { text } from "../../columns.ts";
import type { Query } from "../../connection/client.ts";

/** How long a result is kept: a write is repeated at once or never. */
const kept = "10 minutes";
/** One write of so many forgets the results that are older. */
const sweepEvery = 50;

/** Held until the transaction ends. Code that also locks executions locks them after this. */
export async function lockConversation(query: Query, s: string, conversationId: string): Promise<void> {
  await query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`${s}/${conversationId}`]);
}

/** Returns a function that performs a write with a key inside a transaction. */
export function recordedOnce(s: string) {
  let writes = 0;
  return async <Argument extends { readonly conversationId: string }, Result>(
    query: Query,
    argument: Argument & { readonly key: string },
    write: (query: Query, argument: Argument) => Promise<Result>,
  ): Promise<Result> => {
    await lockConversation(query, s, argument.conversationId);
    const find = `select result from ${s}.conversation_writes where write_key = $1`;
    const [first] = (await query(find, [argument.key])).rows;
    if (first !== undefined) return JSON.parse(text(first, "result"));
    const result = await write(query, argument);
    await query(`insert into ${s}.conversation_writes (write_key, result) values ($1, $2)`, [
      argument.key,
      JSON.stringify(result),
    ]);
    if (writes++ % sweepEvery === 0)
      await query(`delete from ${s}.conversation_writes where written_at < now() - interval '${kept}'`);
    return result;
  };
}
