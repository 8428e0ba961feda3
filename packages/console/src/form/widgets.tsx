// The form controls besides a plain input: Yes and No, segments for few choices, a text area for long text.
import type { WidgetProps } from "@rjsf/utils";
import type { KeyboardEvent } from "react";
import { describedBy } from "./described-by.ts";

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
  readonly described: string | undefined;
  readonly onChange: (value: unknown) => void;
}

function Segments({ id, label, choices, value, disabled, described, onChange }: SegmentsProps) {
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
    <div className="segments" role="radiogroup" aria-label={label} aria-describedby={described} id={id}>
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
  return <PickOne {...fieldOf(props)} choices={choices} canBeNone={!props.required} />;
}

function fieldOf({ id, label, value, disabled, schema, rawErrors, onChange }: WidgetProps) {
  const described = describedBy(id, schema.description, rawErrors);
  return { id, label, value, disabled: disabled === true, described, onChange };
}

/** Segments for few choices, a list for many. */
export function PickOne({ canBeNone, ...props }: SegmentsProps & { readonly canBeNone: boolean }) {
  const { id, choices, value, disabled, described, onChange } = props;
  if (choices.length <= few && choices.every((choice) => choice.label.length < 24))
    return <Segments {...props} />;
  const at = choices.findIndex((choice) => choice.value === value);
  return (
    <select
      id={id}
      className="field"
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

export const widgets = { CheckboxWidget, SelectWidget, TextareaWidget };
