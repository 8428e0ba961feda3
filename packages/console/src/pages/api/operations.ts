// The operations of the API, read from the server's OpenAPI description.
import { address, headers } from "../../api/andante.ts";
import { isObject } from "../../form/as-schema.ts";

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: unknown;
  /** Values by name; those of workflows have the workflow's id. */
  readonly examples: ReadonlyMap<string, unknown>;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly schema: unknown; readonly examples: ReadonlyMap<string, unknown> } | undefined;
  readonly responses: readonly {
    readonly status: string;
    readonly description: string;
    readonly schema: unknown;
  }[];
}

export interface Description {
  readonly operations: readonly Operation[];
  /** Schemas by their reference, `#/components/schemas/…`. */
  readonly schemas: ReadonlyMap<string, unknown>;
}

export async function readDescription(signal: AbortSignal): Promise<Description> {
  const response = await fetch(address("/doc"), { headers: headers(), signal });
  if (!response.ok) throw new Error(`The server answers ${response.status} to GET /doc`);
  return descriptionOf(await response.json());
}

export function descriptionOf(document: unknown): Description {
  const paths = fieldsOf(fieldsOf(document).paths);
  const schemas = fieldsOf(fieldsOf(fieldsOf(document).components).schemas);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(fieldsOf(methods))
      .filter(([, operation]) => isObject(operation) && "operationId" in operation)
      .map(([method, operation]) => operationOf(method, path, fieldsOf(operation))),
  );
  const named = Object.entries(schemas).map(([name, schema]) => [`#/components/schemas/${name}`, schema]);
  return { operations, schemas: new Map(named as [string, unknown][]) };
}

function operationOf(method: string, path: string, given: Fields): Operation {
  const body = contentOf(given.requestBody);
  return {
    id: textOf(given.operationId),
    method: method.toUpperCase(),
    path,
    tag: Array.isArray(given.tags) ? textOf(given.tags[0]) : "",
    summary: textOf(given.summary),
    description: textOf(given.description),
    parameters: Array.isArray(given.parameters) ? given.parameters.map(parameterOf) : [],
    body: body && { schema: body.schema, examples: examplesOf(body) },
    responses: Object.entries(fieldsOf(given.responses)).map(([status, response]) => ({
      status,
      description: textOf(fieldsOf(response).description),
      schema: contentOf(response)?.schema,
    })),
  };
}

function parameterOf(given: unknown): Parameter {
  const { name, in: place, required, description, schema, ...rest } = fieldsOf(given);
  return {
    name: textOf(name),
    in: textOf(place),
    required: required === true,
    description: textOf(description),
    schema,
    examples: examplesOf(rest),
  };
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The first media type of a body. */
function contentOf(given: unknown): Fields | undefined {
  const [first] = Object.values(fieldsOf(fieldsOf(given).content));
  return isObject(first) ? first : undefined;
}

function examplesOf({ examples, example }: Fields): ReadonlyMap<string, unknown> {
  const named = Object.entries(fieldsOf(examples)).map(
    ([name, each]) => [name, fieldsOf(each).value] as const,
  );
  return new Map(named.length > 0 || example === undefined ? named : [["example", example]]);
}
