// The rules of a response: an envelope of the contract, without internal details, and a 5xx only where one is designed.
import path from "node:path";
import { z } from "zod";

export interface Answered {
  readonly method: string;
  /** The path as the server reads it, without the query. */
  readonly pathname: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** A failure of the server that the contract or the design name, where it has a real cause. */
interface DesignedFailure {
  readonly status: number;
  readonly error: RegExp;
  /** The paths where it can happen. */
  readonly at: RegExp;
  readonly why: string;
}

export const designedFailures: readonly DesignedFailure[] = [
  {
    status: 500,
    error: /^Failed to execute workflow$/,
    at: /^\/workflows\/failing\//,
    why: "the contract's answer to a workflow that fails: this one throws",
  },
  {
    status: 500,
    error: /^Failed to execute workflow$/,
    at: /^\/workflows\/everything\/execute/,
    why: "its first step doubles the text: one of more than 2 MB is beyond the limit of outputs then",
  },
  {
    status: 502,
    error: /^The model provider failed to answer$/,
    at: /^\/agents\/(failing|cut|silent)\//,
    why: "the scripted provider of these agents refuses, breaks off or falls silent",
  },
  {
    status: 502,
    error: /^The model did not answer within 0\.03 seconds$/,
    at: /^\/agents\/deaf\//,
    why: "the scripted provider of this agent never answers, and its timeout is 30 ms",
  },
  {
    status: 503,
    error: /^Too many executions are running \(limit \d+\), try again later$/,
    at: /^\/workflows\//,
    why: "limits.running is reached: the fuzzer has as many requests under way as the limit allows",
  },
  {
    status: 503,
    error: /^The service is too busy to check this value, try again later$/,
    at: /^\/(workflows|agents)\//,
    why: "a validation that other processes keep from the processor is given up, and the value is not at fault",
  },
  {
    status: 503,
    error: /^Too many sockets are open \(limit \d+\), try again later$/,
    at: /^\//,
    why: "limits.sockets is reached by clients that stay",
  },
];

const success = z.strictObject({
  success: z.literal(true),
  data: z.union([z.looseObject({}), z.array(z.unknown())]),
});
const failure = z.strictObject({ success: z.literal(false), error: z.string().min(1) });
const repository = path.resolve(import.meta.dirname, "../..");
/** Texts that only our own code contains: places in files, not times of day. */
const inside =
  /node_modules|\bat .*(?:file:|node:|\/|<anonymous>|\[eval)\S*:\d+:\d+|Cannot read prop|is not a function|SQLITE|undefined \(/;

/** The fault of a response; undefined when it was designed. */
export function problemOf(answered: Answered): string | undefined {
  const { method, pathname, status, contentType, text } = answered;
  // Logs and traces are the place for stacks; who is shown them there is a matter of its own (test/observe).
  const showsStacks = pathname === "/api/logs" || pathname.startsWith("/api/traces/");
  if (!showsStacks && (inside.test(text) || text.includes(repository))) return "it tells of the inside";
  // Lists, journals and their explanations, traces and the log show errors thrown by steps, by design; nothing else does.
  if (
    !/\/(events|explain|executions|failures|logs|traces\/[^/]+)$/.test(pathname) &&
    text.includes("hunter2")
  )
    return "it tells what a step threw";
  if (text === "") {
    const fine = method === "HEAD" || status === 204 || contentType.startsWith("text/");
    return fine ? undefined : "it is empty";
  }
  if (contentType !== "application/json") {
    // The page of a link shows its errors itself.
    if (/\/decide\/[^/]+$/.test(pathname) && status < 500 && contentType.startsWith("text/html"))
      return undefined;
    return status === 200 && typeAt(pathname).test(contentType)
      ? undefined
      : `it is of the type ${contentType}`;
  }
  return problemOfJson(answered);
}

/** The content types sent there beside JSON. */
function typeAt(pathname: string): RegExp {
  if (pathname === "/metrics") return /^text\/plain/;
  if (pathname.endsWith("/export")) return /^application\/x-ndjson$/;
  return /^text\/(html|css|javascript|event-stream)/;
}

function problemOfJson({ pathname, status, text }: Answered): string | undefined {
  const body: unknown = JSON.parse(text);
  if (status >= 200 && status < 300) {
    if (pathname === "/doc" || success.safeParse(body).success) return undefined;
    return `it is not an envelope: ${text.slice(0, 300)}`;
  }
  const { data } = failure.safeParse(body);
  if (data === undefined) return `it is not an envelope: ${text.slice(0, 300)}`;
  if (status < 500) return undefined;
  const designed = designedFailures.some(
    (each) => each.status === status && each.error.test(data.error) && each.at.test(pathname),
  );
  return designed ? undefined : `nobody designed it: ${data.error}`;
}
