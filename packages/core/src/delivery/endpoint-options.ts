// Endpoints: where the events of executions are sent, and which.
import { OptionError } from "../errors/index.ts";
import { checkKnownOptions, checkOptionGroup, type KnownOptions } from "../values/check-options.ts";
import { readSecret } from "./webhook-signature.ts";

export const endpointTypes = [
  "execution.ended",
  "execution.suspended",
  "suspension.reminder",
  "suspension.escalated",
] as const;
/** The types of events that endpoints receive. */
export type EndpointType = (typeof endpointTypes)[number];

/** The part of an endpoint that may be set at run time. */
export interface EndpointSettings {
  /** Where events are posted; https. */
  readonly url: string;
  /** The types of events. Default: all. */
  readonly on?: readonly EndpointType[] | undefined;
  /** Only events of these workflows. Default: all. */
  readonly workflows?: readonly string[] | undefined;
  /** `full`: with results, errors and the data of suspensions. Default: `thin`, ids and times. */
  readonly content?: "thin" | "full" | undefined;
}

/** An endpoint in the options of createAndante. */
export interface EndpointOptions extends EndpointSettings {
  /** `whsec_` and 24 to 64 bytes in base64. Of several all sign: put a new one in front, and remove the old one later. */
  readonly secret: string | readonly string[];
  /** Also http, and addresses that are not public. Default: false. */
  readonly allowPrivate?: boolean;
}

export type EndpointRecord = Readonly<Record<string, EndpointOptions>>;

const knownSettings: KnownOptions<EndpointSettings> = { url: true, on: true, workflows: true, content: true };
const known: KnownOptions<EndpointOptions> = { ...knownSettings, secret: true, allowPrivate: true };

export function checkEndpointOptions(endpoints: EndpointRecord | undefined): void {
  if (endpoints === undefined) return;
  for (const [endpointId, endpoint] of Object.entries(endpoints)) {
    const option = `endpoints.${endpointId}`;
    if (!isEndpointId(endpointId)) throw new OptionError({ option, problem: endpointIdProblem });
    checkOptionGroup(option, endpoint, known);
    const refuse = (name: string, problem: string) =>
      new OptionError({ option: `${option}.${name}`, problem });
    checkSettings(endpoint, refuse, endpoint.allowPrivate === true);
    const secrets = secretsOf(endpoint.secret);
    if (
      secrets.length === 0 ||
      secrets.length > 5 ||
      !secrets.every((each) => readSecret(each) !== undefined)
    )
      throw refuse("secret", 'expected "whsec_" with 24 to 64 bytes in base64, or a list of 1 to 5 of them');
  }
}

export function secretsOf(secret: EndpointOptions["secret"]): readonly string[] {
  return [secret].flat();
}

export const endpointIdProblem = "expected 1 to 100 letters, digits, and the characters - _ . ~ as its name";

export function isEndpointId(endpointId: unknown): boolean {
  return typeof endpointId === "string" && /^[\w.~-]{1,100}$/.test(endpointId) && !/^\.+$/.test(endpointId);
}

/** Refuses settings that are not valid, with the name of the field. */
export function checkSettings(
  settings: EndpointSettings,
  refuse: (name: string, problem: string) => Error,
  allowPrivate: boolean,
): void {
  const { url, on, workflows, content } = settings;
  const target = typeof url === "string" && url.length <= 2_000 ? URL.parse(url) : null;
  const isSafe = target?.protocol === "https:" || (allowPrivate && target?.protocol === "http:");
  if (!isSafe) throw refuse("url", "expected an https address");
  if (target.username !== "" || target.password !== "") throw refuse("url", "must not hold a password");
  const types: readonly string[] = endpointTypes;
  if (
    on !== undefined &&
    (!Array.isArray(on) || on.length === 0 || !on.every((type) => types.includes(type)))
  )
    throw refuse("on", `expected a list of ${endpointTypes.join(", ")}`);
  const isId = (id: unknown) => typeof id === "string" && id !== "" && id.length <= 200;
  if (
    workflows !== undefined &&
    (!Array.isArray(workflows) || workflows.length > 1_000 || !workflows.every(isId))
  )
    throw refuse("workflows", "expected a list of at most 1000 ids");
  if (content !== undefined && content !== "thin" && content !== "full")
    throw refuse("content", 'expected "thin" or "full"');
}

/** Refuses unknown settings as well. */
export function checkGivenSettings(
  settings: unknown,
  refuse: (name: string, problem: string) => Error,
): void {
  if (typeof settings !== "object" || settings === null) throw refuse("endpoint", "expected an object");
  checkKnownOptions("endpoint", settings, { ...knownSettings, secret: true });
}
