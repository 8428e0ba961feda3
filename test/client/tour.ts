// The work of a client in any runtime: starts, streams, leaves, and is refused. Tests run it in each runtime.
import { AndanteApiError, createClient } from "@andante/client";

/** The results of a client with the samples, in any runtime. */
export interface Seen {
  readonly started: unknown;
  readonly streamed: readonly string[];
  readonly aborted: string;
  readonly afterwards: string;
  readonly refused: unknown;
}

export async function tour(baseUrl: string): Promise<Seen> {
  const andante = createClient({ baseUrl });
  const { status, result } = await andante.workflow("sum").execute({ a: 2, b: 3 });
  const streamed: string[] = [];
  for await (const { type } of andante.workflow("sum").stream({ a: 1, b: 1 })) streamed.push(type);
  const { aborted, afterwards } = await leave(andante);
  return { started: { status, result }, streamed, aborted, afterwards, refused: await refusal(andante) };
}

/** Leaves a stream in its middle: the stream ends with the reason, and the execution waits as before. */
async function leave(andante: ReturnType<typeof createClient>) {
  const leaving = new AbortController();
  const execution = await andante.workflow("approval").start({ topic: "runtimes" });
  let aborted = "";
  try {
    for await (const _ of execution.stream({ signal: leaving.signal })) leaving.abort(new Error("enough"));
  } catch (error) {
    aborted = String(error);
  }
  const { status } = await execution.state();
  await execution.cancel();
  return { aborted, afterwards: status };
}

async function refusal(andante: ReturnType<typeof createClient>) {
  try {
    await andante.workflow("sum").execute({ a: "two" });
    return "it was not refused";
  } catch (error) {
    return error instanceof AndanteApiError ? { status: error.status, code: error.code } : String(error);
  }
}

/** The expected results in every runtime. */
export const expected: Seen = {
  started: { status: "completed", result: { total: 5 } },
  streamed: [
    "workflow-start",
    "step-start",
    "step-complete",
    "step-start",
    "step-complete",
    "workflow-complete",
    "workflow-result",
  ],
  aborted: "Error: enough",
  afterwards: "suspended",
  refused: { status: 400, code: "input-validation" },
};
