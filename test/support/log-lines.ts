// Numbered log lines, written to a server and read back from a client of `/ws/logs`.
import { z } from "zod";
import type { Fields } from "./responses.ts";
import type { TestServer } from "./serve-for-test.ts";
import type { SocketClient } from "./socket-client.ts";

export function writeLine({ andante }: TestServer, n: number, fields: object = {}): void {
  andante.logger.info({ n, workflowId: "w", ...fields }, "line");
}

export const linesOf = (message: Fields) => z.array(z.object({ n: z.number() }).loose()).parse(message.logs);
export const numbers = (message: Fields) => linesOf(message).map(({ n }) => n);

/** The numbers of the lines up to this one, in the order in which they came. */
export async function numbersTo(client: SocketClient, last: number): Promise<number[]> {
  const messages = await client.until((message) => numbers(message).includes(last));
  return messages.flatMap(numbers);
}
