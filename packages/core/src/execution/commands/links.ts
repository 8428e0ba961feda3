// Decisions by links: the wait that a link belongs to, its state, and its resume, also before the step waits.
import { randomUUID } from "node:crypto";
import type { SchemaChecker } from "../../agent/schema/schema-checker.ts";
import { LinkExpiredError, LinkFormError, LinkNotFoundError, NotSuspendedError } from "../../errors/index.ts";
import { encodeEvents } from "../../journal/codec.ts";
import type { NewEvent } from "../../journal/events.ts";
import { pageOf } from "../../journal/read-journal.ts";
import { type FoundVisit, findVisit } from "../../journal/visit-of-step.ts";
import type { LinkClaims } from "../../link/link-token.ts";
import type { ExecutionStatus, StoredExecution, Suspension } from "../../store/store.ts";
import { fromJson } from "../../values/json.ts";
import { type JsonSchema, toJsonSchema } from "../../values/schema.ts";
import { findStep, resumeSchemaOf } from "../../workflow/find-step.ts";
import type { Engine } from "../engine/engine.ts";
import { checkResumeData } from "../limits/resume-data.ts";
import { type ResumeParts, resumeExecution } from "./resume.ts";

/** Who decided, when, and by which button. */
export interface LinkDecision {
  /** Undefined when that is not known. */
  readonly by: string | undefined;
  readonly at: Date;
  readonly byDeadline: boolean;
  /** The label of the link; undefined for a decision without a link, or without a label. */
  readonly label: string | undefined;
}

/**
 * - `open`: the step waits for the decision.
 * - `early`: it does not wait yet; a decision is kept for it.
 * - `decided`: see `decision`.
 * - `ended`: the execution has ended without it, with the status `execution`.
 * - `replaced`: the step has gone on, or the execution was rewound: the link counts no more.
 */
export interface LinkState {
  readonly status: "open" | "early" | "decided" | "ended" | "replaced";
  readonly executionId: string;
  readonly workflow: { readonly id: string; readonly name: string };
  readonly step: { readonly name: string; readonly purpose: string };
  readonly to: string | undefined;
  readonly expiresAt: Date;
  /** The reason of the suspension; "" before the step waits. */
  readonly reason: string;
  /** The data that the step passed to `suspend`. */
  readonly data: unknown;
  /** The one button of the link; undefined for a form. */
  readonly choice: { readonly label: string } | undefined;
  /** The JSON Schema of the resume data; undefined where everything fits. */
  readonly resumeSchema: JsonSchema | undefined;
  readonly decision: LinkDecision | undefined;
  readonly execution: ExecutionStatus;
  /** The field that a form must send. */
  readonly form: string;
}

type LinkParts = ResumeParts & Pick<Engine, "links" | "progress" | "driver">;

interface Found {
  readonly claims: LinkClaims;
  readonly state: StoredExecution;
  readonly visit: FoundVisit;
  readonly suspension: Suspension | undefined;
  readonly view: LinkState;
}

/** Decisions that lose against others are made again so many times. */
const maxTries = 10;

export class Links {
  readonly #engine: () => LinkParts;
  readonly #schemas: () => SchemaChecker;
  readonly #ready: () => Promise<void>;

  constructor(engine: () => LinkParts, schemas: () => SchemaChecker, ready: () => Promise<void>) {
    this.#engine = engine;
    this.#schemas = schemas;
    this.#ready = ready;
  }

  /** The state of the decision that a link is for. Changes nothing. */
  async read(token: string): Promise<LinkState> {
    return (await this.#find(token)).view;
  }

  /**
   * Decides, once: a link whose decision is made already returns that one. `form` is the field of the state that was read;
   * `data` the resume data, which a link with one button has itself.
   */
  async decide(token: string, form: string, data?: unknown): Promise<LinkState> {
    for (let tries = 1; ; tries++) {
      const found = await this.#find(token);
      if (this.#engine().links.tokens?.isFormOf(token, form) !== true) throw new LinkFormError();
      const { status } = found.view;
      if (status !== "open" && status !== "early") return found.view;
      const { resume } = found.claims;
      const given = resume === undefined ? data : fromJson(resume);
      const isWritten = status === "open" ? await this.#resume(found, given) : await this.#keep(found, given);
      if (isWritten) return (await this.#find(token)).view;
      if (tries === maxTries) throw new NotSuspendedError({ executionId: found.claims.executionId });
    }
  }

  async #find(token: string): Promise<Found> {
    const engine = this.#engine();
    // Before anything is read: refusals take the same time.
    const claims = engine.links.tokens?.read(token);
    if (claims === undefined) throw new LinkNotFoundError();
    if (claims.expiresAt <= engine.clock.now()) throw new LinkExpiredError();
    await this.#ready();
    const { executionId, path } = claims;
    const state = await engine.store.state(executionId);
    if (state === undefined) throw new LinkExpiredError();
    const { sequence: upTo } = state.execution;
    const visit = await findVisit(engine.store, { executionId, upTo }, path, claims.visit);
    const suspension = state.suspensions.find((open) => open.path === path);
    const view = this.#view(claims, state, visit, suspension, engine.links.tokens?.formOf(token) ?? "");
    return { claims, state, visit, suspension, view };
  }

  #view(
    { path, to, label, resume, expiresAt }: LinkClaims,
    { execution }: StoredExecution,
    found: FoundVisit,
    suspension: Suspension | undefined,
    form: string,
  ): LinkState {
    const { executionId, status, workflowId } = execution;
    const workflow = this.#engine().workflow(workflowId);
    const { step } = findStep(workflow, path) ?? {};
    const schema = resumeSchemaOf(workflow, path);
    const decision = found.visit?.decision;
    return {
      status: statusOf(found, suspension, status),
      executionId,
      workflow: { id: workflowId, name: workflow.name },
      step: { name: step?.name ?? path, purpose: step?.purpose ?? "" },
      to,
      expiresAt: new Date(expiresAt),
      reason: suspension?.reason ?? "",
      data: fromJson(suspension?.data ?? undefined),
      choice: resume === undefined ? undefined : { label: label ?? "Confirm" },
      resumeSchema: schema && toJsonSchema(schema, "input", `Workflow "${workflowId}"`),
      decision: decision && {
        by: decision.userId,
        at: new Date(decision.timestamp),
        byDeadline: decision.byDeadline,
        label: decision.link || undefined,
      },
      execution: status,
      form,
    };
  }

  /** False when another decision was first. */
  async #resume({ claims, state, suspension }: Found, data: unknown): Promise<boolean> {
    const { to, label = "" } = claims;
    const options = { suspensionId: suspension?.suspensionId, userId: to, link: label };
    try {
      await resumeExecution(this.#engine(), this.#schemas(), state, data, options);
      return true;
    } catch (error) {
      if (error instanceof NotSuspendedError) return false;
      throw error;
    }
  }

  /** Keeps the decision for the step, which does not wait yet. False when anything was decided since the state was read. */
  async #keep({ claims, state: { execution }, visit }: Found, data: unknown): Promise<boolean> {
    const engine = this.#engine();
    const { executionId, path, to: userId, label: link = "" } = claims;
    const workflow = engine.workflow(execution.workflowId);
    const checks = { executionId, limits: engine.limits, schemas: this.#schemas() };
    const resumeData = await checkResumeData(checks, data, resumeSchemaOf(workflow, path));
    const [top = ""] = path.split(/[/[]/, 1);
    const event: NewEvent = {
      ...{ type: "workflow-resumed", timestamp: engine.clock.now(), path },
      stepIndex: workflow.steps.findIndex(({ id }) => id === top),
      ...{ suspensionId: randomUUID(), resumeData, userId, link },
      ...{ byDeadline: false, expired: false, early: true },
    };
    // It is not in the state of an execution that is suspended elsewhere and lies in memory.
    engine.folds.forget(executionId);
    const result = await engine.store.resume({
      ...{ executionId, suspensionIds: [], rewind: null, byDeadline: false },
      events: encodeEvents([event]),
      claim: { owner: engine.claims.taker, token: randomUUID() },
      early: { path, resumes: visit.resumes },
    });
    engine.folds.forget(executionId);
    if (result.kind !== "kept") return false;
    const { events } = pageOf(result.events);
    engine.kind("workflow").publish(execution, events);
    engine.progress.notify();
    const driver = await engine.driver(executionId);
    driver?.deliver(events);
    return true;
  }
}

function statusOf(
  { visit, isCurrent, end }: FoundVisit,
  suspension: Suspension | undefined,
  status: ExecutionStatus,
): LinkState["status"] {
  if (visit?.decision !== undefined) return "decided";
  if (end !== undefined || (status !== "running" && status !== "suspended")) return "ended";
  if (visit === undefined || !isCurrent) return "replaced";
  if (suspension === undefined) return visit.suspensionId === undefined ? "early" : "replaced";
  return suspension.suspensionId === visit.suspensionId ? "open" : "replaced";
}
