// The controls of a form that differ from a plain input: Yes and No, segments for few choices, room for long text.
import type { WidgetProps } from "@rjsf/utils";

const few = 4;

interface Choice {
  readonly label: string;
  readonly value: unknown;
}

function Segments({
  id,
  label,
  choices,
  value,
  disabled,
  onChange,
}: {
  readonly id: string;
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly value: unknown;
  readonly disabled: boolean;
  readonly onChange: (value: unknown) => void;
}) {
  return (
    <div className="segments" role="radiogroup" aria-label={label} id={id}>
      {choices.map((choice) => (
        // biome-ignore lint/a11y/useSemanticElements: a segment is drawn as a button and spoken as a radio
        <button
          key={choice.label}
          type="button"
          role="radio"
          aria-checked={choice.value === value}
          disabled={disabled}
          onClick={() => onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </div>
  );
}

const yesOrNo: readonly Choice[] = [
  { label: "Yes", value: true },
  { label: "No", value: false },
];

function CheckboxWidget({ id, label, value, disabled, onChange }: WidgetProps) {
  return (
    <Segments
      id={id}
      label={label}
      choices={yesOrNo}
      value={value}
      disabled={disabled === true}
      onChange={onChange}
    />
  );
}

function SelectWidget({ id, label, value, disabled, options, required, onChange }: WidgetProps) {
  const choices = (options.enumOptions ?? []).map((option) => ({ label: option.label, value: option.value }));
  if (choices.length <= few && choices.every((choice) => choice.label.length < 24)) {
    return <Segments {...{ id, label, choices, value, onChange }} disabled={disabled === true} />;
  }
  const at = choices.findIndex((choice) => choice.value === value);
  return (
    <select
      id={id}
      className="field"
      value={String(at)}
      disabled={disabled}
      onChange={(event) => onChange(choices[Number(event.target.value)]?.value)}
    >
      {(!required || at === -1) && <option value="-1">Choose one</option>}
      {choices.map((choice, index) => (
        <option key={choice.label} value={String(index)}>
          {choice.label}
        </option>
      ))}
    </select>
  );
}

function TextareaWidget({ id, value, required, disabled, onChange, options, rawErrors }: WidgetProps) {
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
      onChange={(event) => onChange(event.target.value === "" ? options.emptyValue : event.target.value)}
    />
  );
}

export const widgets = { CheckboxWidget, SelectWidget, TextareaWidget };
