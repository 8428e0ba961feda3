// A resume that can be retried: it names its suspension, and reads the state before each retry.
import { AndanteApiError } from "../api-error.ts";
import { type Connection, respondAsync } from "../connection/connection.ts";
import type { CallOptions } from "../connection/options.ts";
import type { JournalEvent, WorkflowResumedEvent } from "../responses/events.ts";
import type { ExecutionResult, ExecutionState } from "../responses/executions.ts";
import { followExecution, type Place, pathOf, resultIn } from "./execution-stream.ts";

export interface ResumeOptions extends CallOptions {
  /** The waiting step, by id or path; or an earlier top-level step to go back to. Default: the open suspension. */
  readonly stepId?: string | undefined;
  /** Resumes only this suspension, such as the one shown to the user. Default: the open one at the time of the call. */
  readonly suspensionId?: string | undefined;
}

interface Resuming extends ResumeOptions {
  readonly resumeData: unknown;
  /** Whether to wait until the execution has settled. */
  readonly wait: boolean;
}

export async function resumeExecution(
  connection: Connection,
  place: Place,
  { resumeData, wait, stepId, signal, ...options }: Resuming,
): Promise<ExecutionResult> {
  const path = pathOf(place);
  const readState = () => connection.repeat<ExecutionState>({ path: `${path}/state`, signal });
  const suspensionId = options.suspensionId ?? waitingAt(await readState(), stepId);
  const body = { resumeData, options: { stepId, suspensionId } };
  const headers = wait ? {} : respondAsync;
  const send = () =>
    connection.send<ExecutionResult>({ method: "POST", path: `${path}/resume`, body, headers, signal });
  // Several suspensions are open, or an earlier step is named: a retry could not detect an accepted resume.
  if (suspensionId === undefined) return send();
  const backoff = connection.backoff(signal);
  for (;;) {
    try {
      return await send();
    } catch (error) {
      // The request may have been cut while waiting for the execution; the next read of the state shows if the server
      // works.
      await backoff.failed(error, (isLong) => isLong);
    }
    const state = await readState();
    if (state.suspensions?.some((open) => open.suspensionId === suspensionId)) continue;
    const after = await findResumption(connection, place, { suspensionId, resumeData, signal });
    return wait ? settled(connection, place, after, signal) : resultIn(state);
  }
}

/** The only matching suspension; undefined when it is ambiguous. */
function waitingAt({ suspensions = [] }: ExecutionState, stepId: string | undefined): string | undefined {
  const meant = suspensions.filter(
    (open) => stepId === undefined || open.stepId === stepId || open.stepPath === stepId,
  );
  return meant.length === 1 ? meant[0]?.suspensionId : undefined;
}

/** The number of the event of this accepted resume. Throws when another resume was accepted, or it is uncertain. */
async function findResumption(
  connection: Connection,
  place: Place,
  { suspensionId, resumeData, signal }: { suspensionId: string; resumeData: unknown } & CallOptions,
): Promise<number> {
  const { executionId } = place;
  let resumed: WorkflowResumedEvent | undefined;
  for (let after = 0, more = true; more && resumed === undefined; ) {
    const sending = { path: `${pathOf(place)}/events`, query: { after, limit: 10_000 }, signal };
    const page = await connection.repeat<readonly JournalEvent[]>(sending);
    resumed = page
      .filter((event) => event.type === "workflow-resumed")
      .find((event) => event.suspensionId === suspensionId);
    after = page.at(-1)?.sequence ?? after;
    more = page.length > 0;
  }
  if (resumed === undefined) {
    const message = `Execution ${executionId} no longer waits there`;
    throw new AndanteApiError(message, { status: 404, code: "not-suspended", executionId });
  }
  // As in the request: a date is a string there.
  const sent: unknown = JSON.parse(JSON.stringify(resumeData) ?? "null");
  if (contains(resumed.resumeData, sent)) return resumed.sequence;
  const message = `Execution ${executionId} was resumed while the connection was lost, perhaps with other data`;
  throw new AndanteApiError(message, { status: 0, code: "resume-uncertain", executionId });
}

/** Whether the kept data contains everything that was sent: a schema may have added defaults. */
function contains(kept: unknown, sent: unknown): boolean {
  if (typeof sent !== "object" || sent === null) return kept === sent;
  if (typeof kept !== "object" || kept === null || Array.isArray(kept) !== Array.isArray(sent)) return false;
  const fields = new Map<string, unknown>(Object.entries(kept));
  return Object.entries(sent).every(([name, value]) => contains(fields.get(name), value));
}

/** Waits until it ends or is suspended again. */
async function settled(
  connection: Connection,
  place: Place,
  after: number,
  signal: AbortSignal | undefined,
): Promise<ExecutionResult> {
  for await (const event of followExecution(connection, place, { after, until: "settled", signal })) {
    if (event.type !== "workflow-result") continue;
    const { type, timestamp, ...result } = event;
    if (result.status !== "error") return result;
    const details = { status: 500, code: "execution-failed", executionId: result.executionId };
    throw new AndanteApiError("Failed to execute workflow", details);
  }
  throw new TypeError("a stream of events ended without its result");
}
