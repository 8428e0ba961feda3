// Makes the links of bodies.
import { LinksNotConfiguredError, StepSchemaError } from "../errors/index.ts";
import { checkKnownOptions } from "../values/check-options.ts";
import type { Clock } from "../values/clock.ts";
import { parseDuration } from "../values/duration.ts";
import { toJson } from "../values/json.ts";
import { validateOwn } from "../values/schema.ts";
import { findStep, resumeSchemaOf } from "../workflow/find-step.ts";
import type { WorkflowDefinition } from "../workflow/step.ts";
import type { LinkOptions } from "../workflow/step-context.ts";
import { knownLinkOptions, type LinksOptions, secretsOf } from "./link-options.ts";
import { LinkTokens } from "./link-token.ts";

/** The body that makes a link. */
export interface LinkPlace {
  readonly executionId: string;
  /** The workflow of the execution. */
  readonly workflow: WorkflowDefinition;
  readonly path: string;
  /** Names the next wait of a step, or the present one. */
  visitOf(path: string): string;
}

/** Milliseconds. */
const usualLife = 7 * 24 * 60 * 60 * 1000;
const maxTo = 320;
const maxLabel = 100;
/** Characters of the resume data in a link: addresses of more than 8 000 are cut by some programs. */
const maxResume = 1_500;

export class LinkMaker {
  readonly #options: LinksOptions | undefined;
  readonly #clock: Clock;
  readonly tokens: LinkTokens | undefined;

  constructor(options: LinksOptions | undefined, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.tokens = options && new LinkTokens(secretsOf(options));
  }

  /** The address of the page on which a person decides about a step. */
  make(place: LinkPlace, stepId: string, options: LinkOptions = {}): string {
    const { path, executionId, workflow } = place;
    if (this.#options === undefined || this.tokens === undefined) throw new LinksNotConfiguredError({ path });
    const refuse = (detail: string) => new StepSchemaError({ path, subject: "link", detail });
    checkKnownOptions(`link() of step ${path}`, options, knownLinkOptions);
    const { to, label, resume, expires } = options;
    const target = pathOf(workflow, path, stepId);
    if (target === undefined) throw refuse(`the workflow has no step ${JSON.stringify(stepId)}`);
    checkText(to, maxTo, () => refuse(`"to" must be a text of 1 to ${maxTo} characters`));
    checkText(label, maxLabel, () => refuse(`"label" must be a text of 1 to ${maxLabel} characters`));
    const text = resume === undefined ? undefined : toJson(resume, `resume of a link of step ${path}`);
    if (text !== undefined && text.length > maxResume)
      throw refuse(`"resume" is longer than ${maxResume} characters of JSON`);
    const schema = text === undefined ? undefined : resumeSchemaOf(workflow, target);
    const checked = schema && validateOwn(schema, resume);
    // An asynchronous schema is asked when the link is used, as it is in any case.
    if (checked !== undefined && !(checked instanceof Promise) && !checked.ok)
      throw refuse(`"resume" does not fit: ${checked.detail}`);
    const expiresAt = this.#expiry(expires, path);
    if (!Number.isFinite(expiresAt)) throw refuse('"expires" is not a valid date');
    const visit = place.visitOf(target);
    const token = this.tokens.sign({ executionId, path: target, visit, expiresAt, to, label, resume: text });
    return `${this.#options.url.replace(/\/+$/, "")}/decide/${token}`;
  }

  #expiry(expires: LinkOptions["expires"], path: string): number {
    if (expires instanceof Date) return expires.getTime();
    const life = expires === undefined ? usualLife : parseDuration(expires, `Step ${path}, link, expires`);
    return this.#clock.now() + life;
  }
}

/** A step anywhere by its path, beside this one, or beside a container of it. */
function pathOf(workflow: WorkflowDefinition, from: string, stepId: unknown): string | undefined {
  if (typeof stepId !== "string" || stepId === "" || stepId.includes("#")) return undefined;
  // Steps of containers may have the same ids: a whole path is not read as one inside of them.
  if (stepId.includes("/") && findStep(workflow, stepId) !== undefined) return stepId;
  for (let prefix = from; prefix !== ""; ) {
    prefix = prefix.slice(0, prefix.lastIndexOf("/", prefix.length - 2) + 1);
    if (findStep(workflow, prefix + stepId) !== undefined) return prefix + stepId;
  }
  return undefined;
}

function checkText(value: unknown, most: number, refusal: () => Error): void {
  if (value === undefined) return;
  if (typeof value !== "string" || value === "" || value.length > most || !value.isWellFormed())
    throw refusal();
}
