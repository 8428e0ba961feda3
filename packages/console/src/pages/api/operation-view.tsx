// One operation of the API: its parameters and body as fields, a call of it, and its responses.
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { address, headers, part } from "../../api/andante.ts";
import { JsonView } from "../../components/json-view.tsx";
import { duration } from "../../format/numbers.ts";
import type { Operation, Parameter } from "./operations.ts";

/** Maximum characters of a response that are shown; a stream is stopped there. */
const most = 200_000;

interface Reply {
  readonly status: string;
  readonly milliseconds: number;
  readonly text: string;
}

export function OperationView({
  operation,
  schemas,
  example,
}: {
  readonly operation: Operation;
  readonly schemas: ReadonlyMap<string, unknown>;
  /** The name of the examples that are filled in; the first ones by default. */
  readonly example: string | undefined;
}) {
  const { parameters, body, responses, description } = operation;
  const [values, setValues] = useState(() => examplesOf(parameters, example));
  const [text, setText] = useState(() => bodyOf(operation, example));
  const [reply, setReply] = useState<Reply>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const call = useRef<AbortController>(undefined);
  useEffect(() => () => call.current?.abort(), []);
  const id = useId();
  const examples = [...new Set([...(body?.examples.keys() ?? []), ...parameters.flatMap(namesOf)])];
  const fill = (name: string) => {
    setValues({ ...values, ...examplesOf(parameters, name) });
    setText(bodyOf(operation, name));
  };
  const send = async (event: FormEvent) => {
    event.preventDefault();
    const own = new AbortController();
    call.current = own;
    setBusy(true);
    setProblem(undefined);
    setReply(undefined);
    try {
      await request(operation, values, text, own.signal, setReply);
    } catch (error) {
      if (!own.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <form className="operation-body" onSubmit={(event) => void send(event)}>
      {description !== "" && <p className="muted">{description}</p>}
      {examples.length > 1 && (
        <label className="row">
          Example
          <select className="field" defaultValue={example} onChange={({ target }) => fill(target.value)}>
            {examples.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      {parameters.map(({ name, in: place, required, description: hint }) => (
        <div key={`${place} ${name}`} className="parameter">
          <label htmlFor={`${id}-${place}-${name}`}>
            <span className="mono">{name}</span> <small className="faint">{place}</small>
            {required && <small className="muted"> required</small>}
          </label>
          <div>
            <input
              id={`${id}-${place}-${name}`}
              className="field mono"
              required={required}
              value={values[name] ?? ""}
              onChange={({ target }) => setValues({ ...values, [name]: target.value })}
            />
            {hint !== "" && <small className="faint">{hint}</small>}
          </div>
        </div>
      ))}
      {body && (
        <div className="parameter">
          <label htmlFor={`${id}-body`}>Request body</label>
          <div>
            <textarea
              id={`${id}-body`}
              className="field mono"
              rows={Math.min(20, text.split("\n").length + 1)}
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
            <Schema name="Schema of the body" schema={body.schema} schemas={schemas} />
          </div>
        </div>
      )}
      <div className="row">
        <button type="submit" className="btn primary" disabled={isBusy}>
          Send
        </button>
        {isBusy && (
          <button type="button" className="btn" onClick={() => call.current?.abort()}>
            Stop
          </button>
        )}
      </div>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {reply && <Response reply={reply} />}
      <h3>Responses</h3>
      {responses.map(({ status, description: meaning, schema }) => (
        <div key={status} className="parameter">
          <span className="mono">{status}</span>
          <div>
            {meaning}
            {schema !== undefined && (
              <Schema name={`Schema of ${status}`} schema={schema} schemas={schemas} />
            )}
          </div>
        </div>
      ))}
    </form>
  );
}

const namesOf = ({ examples }: Parameter): readonly string[] => [...examples.keys()];

/** The values of the example with this name, of the first one without it. */
function examplesOf(
  parameters: readonly Parameter[],
  name: string | undefined,
): Readonly<Record<string, string>> {
  const values = parameters.flatMap(({ name: field, examples }) => {
    const value = name !== undefined && examples.has(name) ? examples.get(name) : [...examples.values()][0];
    return value === undefined ? [] : [[field, String(value)] as const];
  });
  return Object.fromEntries(values);
}

function bodyOf({ body }: Operation, name: string | undefined): string {
  if (body === undefined) return "";
  const value =
    name !== undefined && body.examples.has(name) ? body.examples.get(name) : [...body.examples.values()][0];
  return value === undefined ? "{}" : JSON.stringify(value, null, 2);
}

/** Calls the operation, and reports the response as it arrives. */
async function request(
  { method, path, parameters, body }: Operation,
  values: Readonly<Record<string, string>>,
  text: string,
  signal: AbortSignal,
  onReply: (reply: Reply) => void,
): Promise<void> {
  const given = (place: string) =>
    parameters.flatMap(({ name, in: where }) => {
      const value = values[name] ?? "";
      return where === place && value !== "" ? [[name, value] as const] : [];
    });
  const at = given("path").reduce((url, [name, value]) => url.replace(`{${name}}`, part(value)), path);
  const started = performance.now();
  const response = await fetch(address(at, Object.fromEntries(given("query"))), {
    method,
    headers: {
      ...headers(),
      ...(body && { "content-type": "application/json" }),
      ...Object.fromEntries(given("header")),
    },
    ...(body && { body: text }),
    signal,
  });
  const status = `${response.status} ${response.statusText}`.trim();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let received = "";
  for (;;) {
    onReply({ status, milliseconds: performance.now() - started, text: received.slice(0, most) });
    const { done = true, value = "" } = (await reader?.read()) ?? {};
    if (done) return;
    received += value;
    if (received.length > most) return void reader?.cancel();
  }
}

function Response({ reply: { status, milliseconds, text } }: { readonly reply: Reply }) {
  const value = parsed(text);
  return (
    <section className="reply" aria-label="Response" aria-live="polite">
      <p>
        <b className="mono">{status}</b> <span className="faint num">{duration(milliseconds)}</span>
      </p>
      {value === undefined ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        text !== "" && <pre tabIndex={0}>{text}</pre>
      ) : (
        <JsonView label="response" value={value} />
      )}
    </section>
  );
}

/** Undefined for text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A schema, rendered when it is opened. Each reference is replaced by its schema. */
function Schema({
  name,
  schema,
  schemas,
}: {
  readonly name: string;
  readonly schema: unknown;
  readonly schemas: ReadonlyMap<string, unknown>;
}) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="faint">{name}</summary>
      {open && <JsonView label={name} value={resolved(schema, schemas, [])} />}
    </details>
  );
}

function resolved(value: unknown, schemas: ReadonlyMap<string, unknown>, within: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => resolved(each, schemas, within));
  if (typeof value !== "object" || value === null) return value;
  if ("$ref" in value && typeof value.$ref === "string") {
    // A schema that contains itself stays a reference.
    if (within.includes(value.$ref) || !schemas.has(value.$ref)) return value;
    return resolved(schemas.get(value.$ref), schemas, [...within, value.$ref]);
  }
  const fields = Object.entries(value).map(([key, each]) => [key, resolved(each, schemas, within)]);
  return Object.fromEntries(fields);
}
