// A form generated from a JSON Schema, with JSON as the alternative; without a schema, text or JSON. The server's errors
// are shown at their fields, and the first of them gets the focus.
import type { JsonSchema } from "@andante/client";
import Form from "@rjsf/core";
import type { ErrorSchema, RJSFSchema, UiSchema } from "@rjsf/utils";
import { Component, type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { asSchema, isObject } from "./as-schema.ts";
import { fieldsOfUnions } from "./choice-field.tsx";
import { withOpenChoices } from "./choices.ts";
import { type Draft, keepDraft, readDraft } from "./draft.ts";
import { templates } from "./field-templates.tsx";
import { fieldsOfObjects, isRecord } from "./record-field.tsx";
import { brokenRef } from "./resolve-ref.ts";
import { errorsByField } from "./server-errors.ts";
import { validator } from "./validator.ts";
import { PickOne, widgets } from "./widgets.tsx";
import "./form.css";

export interface SchemaFormProps {
  readonly schema: JsonSchema | undefined;
  /** The initial value. */
  readonly initial: unknown;
  /** Fields that the user has chosen before; they replace those of a draft, too. */
  readonly chosen?: Readonly<Record<string, unknown>> | undefined;
  /** The label of the button. */
  readonly submit: string;
  readonly onSubmit: (data: unknown) => Promise<unknown>;
  /** Content next to the button. */
  readonly beside?: ReactNode;
  /** Keeps the unsent value in the tab, under this key. */
  readonly draft?: string | undefined;
}

export default function SchemaForm(props: SchemaFormProps) {
  const { schema, initial, chosen, submit, onSubmit, beside, draft } = props;
  const [broken, setBroken] = useState(() => problemOf(schema));
  const canShow = schema !== undefined && broken === undefined && hasFields(schema);
  // Any text is accepted where nothing is known about the value.
  const isFree = broken === undefined && (schema === undefined || Object.keys(schema).every(isRemark));
  const [kept] = useState(() => readDraft(draft));
  const [mode, setMode] = useState<Draft["mode"]>(
    kept?.mode ?? (canShow ? "form" : isFree && initial === undefined ? "text" : "json"),
  );
  // The form library reports the empty object of a form a moment after it is drawn.
  const empty = canShow ? {} : undefined;
  const [data, setData] = useState(() =>
    withChosen(kept === undefined ? (initial ?? empty) : kept.data, chosen),
  );
  const [text, setText] = useState(() => kept?.text ?? jsonOf(initial));
  const isChanged = useRef(false);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const isSending = useRef(false);
  const drawn = useMemo(() => withOpenChoices(schema ?? {}), [schema]);
  const { fields: errors, rest } = useMemo(
    // The JSON editor has no fields that could show an error.
    () => errorsByField(error, mode === "form" ? schema : undefined),
    [error, schema, mode],
  );

  useEffect(() => {
    if (isChanged.current) keepDraft(draft, { mode, data, text });
    isChanged.current = true;
  }, [draft, mode, data, text]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error !== undefined) focusFirstError(box.current);
  }, [error]);

  const send = async (value: unknown) => {
    // A key that is held down, or pressed before the button renders as busy, must not submit twice.
    if (isSending.current) return;
    isSending.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit(value);
      keepDraft(draft, undefined);
    } catch (problem) {
      setError(problem);
    }
    isSending.current = false;
    setBusy(false);
  };
  const sendText = () => {
    if (mode === "text") return void send(text === "" ? undefined : text);
    try {
      void send(text.trim() === "" ? undefined : JSON.parse(text));
    } catch (problem) {
      setError(problem);
    }
  };
  const sendNow = () => (mode === "form" ? void send(data) : sendText());
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
    <div className="schema-form" onKeyDown={onKey} ref={box}>
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
            fields={fields}
            formData={data}
            experimental_defaultFormStateBehavior={untouched}
            // The error schema of the library is typed by the form data, which is unknown here.
            extraErrors={errors as ErrorSchema}
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
        <>
          {isFree && (
            <div className="form-modes">
              <PickOne
                id="field__mode"
                label="Answer as"
                choices={freeModes}
                value={mode}
                disabled={busy}
                required
                canBeNone={false}
                described={undefined}
                onChange={(next) => setMode(next === "json" ? "json" : "text")}
              />
            </div>
          )}
          <label className="json-entry">
            <span className="field-label">{mode === "text" ? "Text" : "JSON"}</span>
            <textarea
              className={mode === "text" ? "field" : "field mono"}
              rows={Math.min(16, Math.max(4, text.split("\n").length + 1))}
              value={text}
              spellCheck={false}
              disabled={busy}
              aria-invalid={error !== undefined}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
        </>
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

const fields = { ...fieldsOfUnions, ...fieldsOfObjects };
/** Neither Yes nor No is preselected, and an object that is not required is sent only with fields in it. */
const untouched = {
  requiredBooleanDefault: "skip",
  emptyObjectFields: "populateRequiredDefaults",
} as const;
const freeModes = [
  { label: "Text", value: "text" },
  { label: "JSON", value: "json" },
];

/** Whether a keyword of a schema restricts no value. */
function isRemark(keyword: string): boolean {
  return ["$schema", "title", "description", "default", "examples"].includes(keyword);
}

/** Scrolls to the field of the first error and focuses its control; without such a field, the button to send again. */
function focusFirstError(box: HTMLElement | null): void {
  const field =
    box?.querySelector(".field-error")?.closest(".form-field") ?? box?.querySelector(".json-entry");
  const control = "input, textarea, select, button[tabindex='0'], button";
  const found = field?.querySelector<HTMLElement>(control) ?? box?.querySelector<HTMLElement>(".btn.primary");
  found?.focus({ preventScroll: true });
  found?.scrollIntoView({ block: "center" });
}

function withChosen(value: unknown, chosen: SchemaFormProps["chosen"]): unknown {
  return chosen === undefined ? value : { ...(isObject(value) && value), ...chosen };
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
  if (type === "object") return Object.keys(asSchema(properties)).length > 0 || isRecord(schema);
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
