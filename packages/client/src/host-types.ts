// The types of a host, inferred from `typeof app`. Only for the compiler.

export interface WorkflowTypes {
  readonly input: unknown;
  readonly result: unknown;
  readonly resume: unknown;
  /** The ids of its top-level steps. */
  readonly stepId: string;
}

export interface HostTypes {
  readonly workflows: Readonly<Record<string, WorkflowTypes>>;
  /** The ids of its agents. */
  readonly agents: string;
  /** The data of its events, by name. */
  readonly events: Readonly<Record<string, unknown>>;
}

/**
 * The types of a host: of the result of `createApp`, `serve` or `createAndante`, or of a promise of it. For any other
 * type every id is accepted, and values are `unknown`.
 */
export type TypesOf<Host> =
  Awaited<Host> extends { readonly andante: infer Andante } ? Carried<Andante> : Carried<Awaited<Host>>;

type Carried<Andante> = "~types" extends keyof Andante
  ? Exclude<Andante["~types"], undefined> extends infer Types extends HostTypes
    ? // Its members and not its name, so that an editor shows them resolved.
      {
        readonly workflows: Types["workflows"];
        readonly agents: Types["agents"];
        readonly events: Types["events"];
      }
    : HostTypes
  : HostTypes;

/** The ids of a host's workflows. */
export type WorkflowId<T extends HostTypes> = keyof T["workflows"] & string;
