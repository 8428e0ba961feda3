// A form generated from a JSON Schema, with JSON as the alternative. The server's errors are shown at their fields.
import type { JsonSchema } from "@andante/client";
import Form from "@rjsf/core";
import type { ErrorSchema, RJSFSchema, UiSchema } from "@rjsf/utils";
import { Component, type KeyboardEvent, type ReactNode, useMemo, useRef, useState } from "react";
import { asSchema } from "./as-schema.ts";
import { fieldsOfUnions } from "./choice-field.tsx";
import { withOpenChoices } from "./choices.ts";
import { templates } from "./field-templates.tsx";
import { brokenRef } from "./resolve-ref.ts";
import { errorsByField } from "./server-errors.ts";
import { validator } from "./validator.ts";
import { widgets } from "./widgets.tsx";
import "./form.css";

export interface SchemaFormProps {
  readonly schema: JsonSchema | undefined;
  /** The initial value. */
  readonly initial: unknown;
  /** The label of the button. */
  readonly submit: string;
  readonly onSubmit: (data: unknown) => Promise<unknown>;
  /** Content next to the button. */
  readonly beside?: ReactNode;
}

export default function SchemaForm({ schema, initial, submit, onSubmit, beside }: SchemaFormProps) {
  const [broken, setBroken] = useState(() => problemOf(schema));
  const canShow = schema !== undefined && broken === undefined && hasFields(schema);
  const [mode, setMode] = useState<"form" | "json">(canShow ? "form" : "json");
  const [data, setData] = useState<unknown>(initial);
  const [text, setText] = useState(() => jsonOf(initial));
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const isSending = useRef(false);
  const drawn = useMemo(() => withOpenChoices(schema ?? {}), [schema]);
  const { fields, rest } = useMemo(
    // The JSON editor has no fields that could show an error.
    () => errorsByField(error, mode === "form" ? schema : undefined),
    [error, schema, mode],
  );

  const send = async (value: unknown) => {
    // A key that is held down, or pressed before the button renders as busy, must not submit twice.
    if (isSending.current) return;
    isSending.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit(value);
    } catch (problem) {
      setError(problem);
    }
    isSending.current = false;
    setBusy(false);
  };
  const sendText = () => {
    try {
      void send(text.trim() === "" ? undefined : JSON.parse(text));
    } catch (problem) {
      setError(problem);
    }
  };
  const sendNow = () => (mode === "json" ? sendText() : void send(data));
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    if (!event.repeat) sendNow();
  };
  const giveUp = (problem: unknown) => {
    setBroken(wordsOf(problem));
    setText(jsonOf(data));
    setMode("json");
  };
  const change = (next: "form" | "json") => {
    if (next === "json") setText(jsonOf(data));
    else {
      try {
        setData(text.trim() === "" ? undefined : JSON.parse(text));
      } catch (problem) {
        return setError(problem);
      }
    }
    setError(undefined);
    setMode(next);
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: one key sends from any field inside
    <div className="schema-form" onKeyDown={onKey}>
      {broken !== undefined && (
        <p className="form-broken" role="status">
          <b>This form cannot be drawn:</b> {broken}. Write the value as JSON.
        </p>
      )}
      {mode === "form" && canShow ? (
        <FormBoundary onBroken={giveUp}>
          <Form
            schema={drawn as RJSFSchema}
            uiSchema={uiSchemaFor(drawn) as UiSchema}
            validator={validator}
            templates={templates}
            widgets={widgets}
            fields={fieldsOfUnions}
            formData={data}
            // Neither Yes nor No is preselected.
            experimental_defaultFormStateBehavior={{ requiredBooleanDefault: "skip" }}
            // The error schema of the library is typed by the form data, which is unknown here.
            extraErrors={fields as ErrorSchema}
            noHtml5Validate
            noValidate
            showErrorList={false}
            disabled={busy}
            onChange={(event) => setData(event.formData)}
            onSubmit={(event) => void send(event.formData)}
            idPrefix="field"
          >
            <span />
          </Form>
        </FormBoundary>
      ) : (
        <label className="json-entry">
          <span className="field-label">JSON</span>
          <textarea
            className="field mono"
            rows={Math.min(16, Math.max(4, text.split("\n").length + 1))}
            value={text}
            spellCheck={false}
            disabled={busy}
            aria-invalid={error !== undefined}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
      )}
      {rest !== undefined && (
        <p className="field-error" role="alert">
          {rest}
        </p>
      )}
      <div className="form-acts">
        <button
          type="button"
          className="btn primary"
          disabled={busy}
          // The second click of a double click may hit the form of the next item in the same place.
          onClick={({ detail }) => detail > 1 || sendNow()}
        >
          {submit}
        </button>
        {beside}
        {canShow && (
          <button
            type="button"
            className="text-button faint mode-switch"
            disabled={busy}
            onClick={() => change(mode === "form" ? "json" : "form")}
          >
            {mode === "form" ? "Edit as JSON" : "Back to the form"}
          </button>
        )}
      </div>
    </div>
  );
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}

/** The reason why the schema cannot be rendered, if known in advance. */
function problemOf(schema: JsonSchema | undefined): string | undefined {
  const ref = schema && brokenRef(schema);
  return ref === undefined ? undefined : `its schema refers to ${ref}, which is not in it`;
}

function wordsOf(problem: unknown): string {
  return (problem instanceof Error ? problem.message : String(problem)).replace(/\.$/, "");
}

/** Whether the schema defines fields; without them JSON input is better. */
function hasFields(schema: JsonSchema): boolean {
  const { type, properties, anyOf, oneOf, $ref } = schema;
  if (type === "object") return Object.keys(asSchema(properties)).length > 0;
  return [type, anyOf, oneOf, $ref].some((word) => word !== undefined);
}

interface Props {
  readonly children: ReactNode;
  readonly onBroken: (error: unknown) => void;
}

/** An error boundary around the form: a schema that it cannot render must not break the page. */
class FormBoundary extends Component<Props, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch(error: unknown) {
    this.props.onBroken(error);
  }

  override render() {
    return this.state.isBroken ? null : this.props.children;
  }
}

type Look = Record<string, unknown>;

const longNames =
  /(note|comment|text|body|description|message|reason|prompt|instructions|question|content)$/i;
const deepest = 6;

/** Rendering hints that a schema does not contain: long text gets a text area. */
function uiSchemaFor(schema: JsonSchema, depth = 0): Look {
  const properties = asSchema(schema.properties);
  if (depth > deepest) return {};
  const looks: Look = {};
  for (const [name, given] of Object.entries(properties)) {
    const field = asSchema(given);
    if (isLongText(name, field)) looks[name] = { "ui:widget": "textarea" };
    else if (field.type === "object") looks[name] = uiSchemaFor(field, depth + 1);
    else if (field.type === "array") looks[name] = { items: uiSchemaFor(asSchema(field.items), depth + 1) };
  }
  return looks;
}

function isLongText(name: string, { type, format, enum: values, maxLength }: JsonSchema): boolean {
  if (type !== "string" || format !== undefined || values !== undefined) return false;
  return longNames.test(name) || (typeof maxLength === "number" && maxLength > 120);
}
