// The layout of form fields: label, hint, control and error.
import {
  ADDITIONAL_PROPERTY_FLAG,
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  type FieldTemplateProps,
  type ObjectFieldTemplateProps,
  type RJSFSchema,
  type WidgetProps,
} from "@rjsf/utils";
import { Plus, X } from "lucide-react";
import { describedBy, errorId, hintId } from "./described-by.ts";
import { fieldLabel } from "./field-label.ts";

/** The constraints of a schema as text: "number, at most 1 240". */
export function boundsOf({ type, minimum, maximum, minLength, maxLength, format }: RJSFSchema): string {
  const words: string[] = [];
  if (type === "number" || type === "integer") words.push(type === "integer" ? "whole number" : "number");
  const kind = format === undefined ? "" : (formats[format] ?? format);
  if (kind !== "") words.push(kind);
  const least = minimum ?? minLength;
  const most = maximum ?? maxLength;
  // The safe-integer limit of JSON numbers is not worth showing.
  if (typeof least === "number" && Math.abs(least) < Number.MAX_SAFE_INTEGER && least > 1)
    words.push(`at least ${least}`);
  if (typeof most === "number" && most < Number.MAX_SAFE_INTEGER) words.push(`at most ${most}`);
  return words.join(", ");
}

/** The formats that the control itself does not show. */
const formats: Readonly<Record<string, string>> = {
  ...{ date: "", "date-time": "your local time", time: "", email: "e-mail address", uri: "web address" },
  ...{ base64: "file", json: "text or JSON" },
};

function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, required, rawDescription, rawErrors, children, hidden, schema, displayLabel } = props;
  const { formData, registry, disabled, fieldPathId, onChange, onRemoveProperty } = props;
  // A field that has its only possible value is hidden.
  const isGiven = schema.const !== undefined && formData === schema.const;
  if (hidden || isGiven) return <div hidden>{children}</div>;
  const isTicked = registry.schemaUtils.isMultiSelect(schema);
  const isContainer = schema.type === "object" || (schema.type === "array" && !isTicked);
  const isNone = schema.nullable === true && formData === null;
  const name = fieldLabel(schema, label);
  const showsLabel =
    label !== "" && !isContainer && (displayLabel !== false || isTicked || schema.type === "boolean");
  const hints = [required ? "required" : "", boundsOf(schema)].filter((hint) => hint !== "");
  return (
    <div className={`form-field ${props.classNames ?? ""}`}>
      {showsLabel && (
        <label className="field-label" htmlFor={id}>
          {name} <span className="faint">{hints.join(", ")}</span>
        </label>
      )}
      {rawDescription !== undefined && rawDescription !== "" && !isContainer && (
        <div className="field-hint" id={hintId(id)}>
          {rawDescription}
        </div>
      )}
      {isNone ? isContainer && <div className="field-label">{name}</div> : children}
      {schema.nullable === true && (
        <label className="form-tick">
          <input
            type="checkbox"
            checked={isNone}
            disabled={disabled}
            aria-label={`${name}: none`}
            onChange={(event) => onChange(event.target.checked ? null : undefined, fieldPathId.path)}
          />
          None
        </label>
      )}
      {ADDITIONAL_PROPERTY_FLAG in schema && (
        <button type="button" className="text-button faint" disabled={disabled} onClick={onRemoveProperty}>
          Remove {name}
        </button>
      )}
      {rawErrors !== undefined && rawErrors.length > 0 && (
        <div id={errorId(id)}>
          {rawErrors.map((message) => (
            <div key={message} className="field-error" role="alert">
              {message}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function ObjectFieldTemplate({ title, properties, fieldPathId, schema }: ObjectFieldTemplateProps) {
  const isRoot = fieldPathId.path.length === 0;
  const inside = properties.map(({ content }) => content);
  // A branch of a choice has no title: the select shows it.
  if (isRoot || schema.title === "") return <>{inside}</>;
  return (
    <fieldset className="form-group">
      <legend className="field-label">{fieldLabel(schema, title)}</legend>
      {schema.description && <div className="field-hint">{schema.description}</div>}
      {inside}
    </fieldset>
  );
}

function ArrayFieldTemplate({ title, items, canAdd, onAddClick, schema }: ArrayFieldTemplateProps) {
  return (
    <fieldset className="form-group">
      <legend className="field-label">{fieldLabel(schema, title)}</legend>
      {schema.description && <div className="field-hint">{schema.description}</div>}
      {items}
      {canAdd && (
        <button type="button" className="btn" onClick={() => onAddClick()}>
          <Plus aria-hidden="true" /> Add
        </button>
      )}
    </fieldset>
  );
}

function ArrayFieldItemTemplate({ children, buttonsProps, index }: ArrayFieldItemTemplateProps) {
  return (
    <div className="form-item">
      <div className="grow">{children}</div>
      {buttonsProps.hasRemove && (
        <button
          type="button"
          className="btn plain icon"
          aria-label={`Remove item ${index + 1}`}
          onClick={() => buttonsProps.onRemoveItem()}
        >
          <X aria-hidden="true" />
        </button>
      )}
    </div>
  );
}

const short = /^(number|date|datetime-local|time)$/;
const inputTypes: Readonly<Record<string, string>> = { number: "number", integer: "number" };

function BaseInputTemplate(props: WidgetProps) {
  const { id, value, schema, required, disabled, readonly, onChange, options, rawErrors, placeholder } =
    props;
  const ofSchema = typeof schema.type === "string" ? inputTypes[schema.type] : undefined;
  // The widgets of dates, times and addresses name their type.
  const type = ofSchema ?? props.type ?? "text";
  const shown: unknown = value;
  return (
    <input
      id={id}
      className={short.test(type) ? "field num short" : "field"}
      type={type}
      {...(type === "number" && { step: schema.type === "integer" ? 1 : "any" })}
      value={shown === undefined || shown === null ? "" : String(shown)}
      placeholder={placeholder || (required ? "" : "Optional")}
      disabled={disabled}
      readOnly={readonly}
      aria-invalid={(rawErrors?.length ?? 0) > 0}
      aria-describedby={describedBy(id, schema.description, rawErrors)}
      onChange={(event) => onChange(event.target.value === "" ? options.emptyValue : event.target.value)}
    />
  );
}

export const templates = {
  FieldTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  BaseInputTemplate,
};
