// The form controls besides a plain input: Yes and No, segments for few choices, ticks for a choice of several, a text
// area for long text, a file, a value of any kind.
import type { WidgetProps } from "@rjsf/utils";
import { type KeyboardEvent, useState } from "react";
import { bytes } from "../format/numbers.ts";
import { describedBy } from "./described-by.ts";
import { fieldLabel } from "./field-label.ts";

const few = 4;

interface Choice {
  readonly label: string;
  readonly value: unknown;
}

interface SegmentsProps {
  readonly id: string;
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly value: unknown;
  readonly disabled: boolean;
  readonly required: boolean;
  readonly described: string | undefined;
  readonly onChange: (value: unknown) => void;
}

function Segments({ id, label, choices, value, disabled, required, described, onChange }: SegmentsProps) {
  const chosen = choices.findIndex((choice) => choice.value === value);
  // One tab stop for all segments and arrow keys between them, as in a radio group.
  const onKey = (event: KeyboardEvent, from: number) => {
    const by = steps[event.key] ?? 0;
    if (by === 0 || disabled) return;
    event.preventDefault();
    const next = (from + by + choices.length) % choices.length;
    event.currentTarget.parentElement?.querySelectorAll<HTMLElement>("[role=radio]")[next]?.focus();
    onChange(choices[next]?.value);
  };
  return (
    <div
      className="segments"
      role="radiogroup"
      aria-label={label}
      aria-required={required}
      aria-describedby={described}
      id={id}
    >
      {choices.map((choice, index) => (
        // biome-ignore lint/a11y/useSemanticElements: a segment looks like a button and acts as a radio
        <button
          key={choice.label}
          type="button"
          role="radio"
          aria-checked={index === chosen}
          tabIndex={index === Math.max(0, chosen) ? 0 : -1}
          onKeyDown={(event) => onKey(event, index)}
          disabled={disabled}
          onClick={() => onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </div>
  );
}

const steps: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
};

const yesOrNo: readonly Choice[] = [
  { label: "Yes", value: true },
  { label: "No", value: false },
];

function CheckboxWidget(props: WidgetProps) {
  return <Segments {...fieldOf(props)} choices={yesOrNo} />;
}

function SelectWidget(props: WidgetProps) {
  const choices = (props.options.enumOptions ?? []).map(({ label, value }) => ({ label, value }));
  if (props.multiple) return <Ticks {...fieldOf(props)} choices={choices} />;
  return <PickOne {...fieldOf(props)} choices={choices} canBeNone={!props.required} />;
}

function fieldOf({ id, label, value, disabled, required, schema, rawErrors, onChange }: WidgetProps) {
  const described = describedBy(id, schema.description, rawErrors);
  const state = { disabled: disabled === true, required: required === true };
  return { id, label: fieldLabel(schema, label), value, ...state, described, onChange };
}

/** Any number of the choices, in their order. */
function Ticks({ id, label, choices, value, disabled, described, onChange }: SegmentsProps) {
  const chosen: readonly unknown[] = Array.isArray(value) ? value : [];
  const change = (choice: unknown, isOn: boolean) =>
    onChange(
      choices.map((each) => each.value).filter((each) => (each === choice ? isOn : chosen.includes(each))),
    );
  return (
    // biome-ignore lint/a11y/useSemanticElements: the label of the field is outside
    <div className="ticks" role="group" aria-label={label} aria-describedby={described} id={id}>
      {choices.map((choice) => (
        <label key={choice.label} className="form-tick">
          <input
            type="checkbox"
            checked={chosen.includes(choice.value)}
            disabled={disabled}
            onChange={(event) => change(choice.value, event.target.checked)}
          />
          {choice.label}
        </label>
      ))}
    </div>
  );
}

/** Segments for few choices, a list for many. */
export function PickOne({ canBeNone, ...props }: SegmentsProps & { readonly canBeNone: boolean }) {
  const { id, choices, value, disabled, required, described, onChange } = props;
  if (choices.length <= few && choices.every((choice) => choice.label.length < 24))
    return <Segments {...props} />;
  const at = choices.findIndex((choice) => choice.value === value);
  return (
    <select
      id={id}
      className="field"
      aria-required={required}
      value={String(at)}
      disabled={disabled}
      aria-describedby={described}
      onChange={(event) => onChange(choices[Number(event.target.value)]?.value)}
    >
      {(canBeNone || at === -1) && <option value="-1">Choose one</option>}
      {choices.map((choice, index) => (
        <option key={choice.label} value={String(index)}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}

function TextareaWidget(props: WidgetProps) {
  const { id, value, required, disabled, onChange, options, schema, rawErrors } = props;
  const text: unknown = value;
  return (
    <textarea
      id={id}
      className="field"
      rows={2}
      value={typeof text === "string" ? text : ""}
      placeholder={required ? "" : "Optional"}
      disabled={disabled}
      aria-invalid={(rawErrors?.length ?? 0) > 0}
      aria-describedby={describedBy(id, schema.description, rawErrors)}
      onChange={(event) => onChange(event.target.value === "" ? options.emptyValue : event.target.value)}
    />
  );
}

/** A file, whose content is the value in base64. */
function FileWidget({ id, value, disabled, schema, rawErrors, onChange }: WidgetProps) {
  const [name, setName] = useState("A file");
  const content: unknown = value;
  const choose = (file: File | undefined) => {
    if (file === undefined) return;
    const reader = new FileReader();
    reader.onload = () => {
      setName(file.name);
      // A data URL: the content follows the first comma.
      onChange(String(reader.result).replace(/^[^,]*,/, ""));
    };
    reader.readAsDataURL(file);
  };
  return (
    <div>
      <input
        id={id}
        type="file"
        className="field"
        {...(schema.contentMediaType !== undefined && { accept: schema.contentMediaType })}
        disabled={disabled}
        aria-invalid={(rawErrors?.length ?? 0) > 0}
        aria-describedby={describedBy(id, schema.description, rawErrors)}
        onChange={(event) => choose(event.target.files?.[0])}
      />
      {typeof content === "string" && content !== "" && (
        <div className="field-hint" role="status">
          {name} · {bytes(Math.floor((content.replace(/=+$/, "").length * 3) / 4))}{" "}
          <button
            type="button"
            className="text-button"
            disabled={disabled}
            onClick={() => onChange(undefined)}
          >
            Remove
          </button>
        </div>
      )}
    </div>
  );
}

/** A value of any kind: JSON, and text that is not JSON as it is. */
function JsonWidget({ id, value, disabled, schema, rawErrors, onChange }: WidgetProps) {
  const [text, setText] = useState(() => {
    const given: unknown = value;
    return typeof given === "string" ? given : (JSON.stringify(given, null, 2) ?? "");
  });
  const change = (next: string) => {
    setText(next);
    onChange(next.trim() === "" ? undefined : textOrJson(next));
  };
  return (
    <textarea
      id={id}
      className="field mono"
      rows={Math.min(12, text.split("\n").length + 1)}
      value={text}
      spellCheck={false}
      disabled={disabled}
      aria-invalid={(rawErrors?.length ?? 0) > 0}
      aria-describedby={describedBy(id, schema.description, rawErrors)}
      onChange={(event) => change(event.target.value)}
    />
  );
}

function textOrJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The last two are chosen by the format of the schema for rendering. */
export const widgets = {
  ...{ CheckboxWidget, SelectWidget, TextareaWidget },
  ...{ base64: FileWidget, json: JsonWidget },
};
