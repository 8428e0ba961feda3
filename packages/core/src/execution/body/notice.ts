// The notifications that a suspension asks for.
import type { Notice } from "../../delivery/outbox.ts";
import { StepSchemaError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { parseDuration } from "../../values/duration.ts";
import type { SuspendOptions } from "../../workflow/step-context.ts";

const known: KnownOptions<SuspendOptions> = {
  ...{ deadline: true, onDeadline: true },
  ...{ event: true, key: true, since: true },
  ...{ to: true, remind: true, escalate: true, link: true },
};
const minRemind = 60_000;
const maxTo = 320;
const usualLife = 7 * 24 * 60 * 60 * 1000;

/** Undefined for none. `hasEndpoints`: notifications can be sent. */
export function readNotice(
  options: SuspendOptions,
  path: string,
  now: number,
  hasEndpoints: boolean,
): Notice | undefined {
  checkKnownOptions(`suspend() of step ${path}`, options, known);
  const { to, remind, escalate, link } = options;
  if (to === undefined && remind === undefined && escalate === undefined && link === undefined)
    return undefined;
  const refuse = (subject: string, detail: string) => new StepSchemaError({ path, subject, detail });
  // The inbox shows the recipient in any case.
  const isSent = remind !== undefined || escalate !== undefined || link !== undefined;
  if (isSent && !hasEndpoints)
    throw refuse("notification", "the host has no endpoints to send it to (option endpoints)");
  checkTo(to, () => refuse("to", `expected a text of 1 to ${maxTo} characters without control characters`));
  checkTo(escalate?.to, () =>
    refuse("escalate.to", `expected a text of 1 to ${maxTo} characters without control characters`),
  );
  const where = `Step ${path}`;
  const every = remind === undefined ? undefined : parseDuration(remind, `${where}, remind`);
  if (every !== undefined && every < minRemind) throw refuse("remind", "expected at least a minute");
  const until = linkUntil(link, where, now);
  if (Number.isNaN(until)) throw refuse("link.expires", "is not a valid date");
  return {
    to,
    remind: every,
    escalate: escalate && {
      at: now + parseDuration(escalate.after, `${where}, escalate.after`),
      to: escalate.to,
    },
    linkUntil: until,
  };
}

function linkUntil(link: SuspendOptions["link"], where: string, now: number): number | undefined {
  if (link === undefined) return undefined;
  const expires = link === true ? undefined : link.expires;
  if (expires instanceof Date) return expires.getTime();
  return now + (expires === undefined ? usualLife : parseDuration(expires, `${where}, link.expires`));
}

function checkTo(to: unknown, refusal: () => Error): void {
  if (to === undefined) return;
  const isText = typeof to === "string" && to !== "" && to.length <= maxTo && to.isWellFormed();
  if (!isText || /\p{Cc}/u.test(to)) throw refusal();
}
