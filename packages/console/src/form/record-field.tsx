// An object in a form. One whose field names the schema leaves open, a record, can be given named entries.
import { getDefaultRegistry } from "@rjsf/core";
import type { FieldProps, RJSFSchema } from "@rjsf/utils";
import { Plus } from "lucide-react";
import { useState } from "react";
import { isObject } from "./as-schema.ts";
import { fieldLabel } from "./field-label.ts";

const { ObjectField } = getDefaultRegistry().fields;

/** Whether the schema leaves the names of fields open and describes their values. */
export function isRecord({ type, properties, additionalProperties: values }: RJSFSchema): boolean {
  const isPlain = properties === undefined || Object.keys(properties).length === 0;
  return type === "object" && isPlain && (values === true || isObject(values));
}

function RecordField(props: FieldProps) {
  if (ObjectField === undefined) return null;
  const { schema, formData, fieldPathId, name, disabled, onChange } = props;
  if (!isRecord(schema)) return <ObjectField {...props} />;
  const entries: object = isObject(formData) ? formData : {};
  const add = (entry: string) => onChange({ ...entries, [entry]: undefined }, fieldPathId.path);
  return (
    <>
      {/* The library remembers the entries that it began with. */}
      <ObjectField key={JSON.stringify(Object.keys(entries))} {...props} />
      <NewEntry
        label={fieldLabel(schema, name)}
        disabled={disabled === true}
        onAdd={(entry) => Object.hasOwn(entries, entry) || add(entry)}
      />
    </>
  );
}

function NewEntry({
  label,
  disabled,
  onAdd,
}: {
  readonly label: string;
  readonly disabled: boolean;
  readonly onAdd: (name: string) => void;
}) {
  const [entry, setEntry] = useState("");
  const add = () => {
    if (entry.trim() === "") return;
    onAdd(entry.trim());
    setEntry("");
  };
  return (
    <div className="form-new-entry">
      <input
        className="field short"
        aria-label={`Name of a new entry of ${label}`}
        placeholder="Name"
        value={entry}
        disabled={disabled}
        onChange={(event) => setEntry(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.metaKey || event.ctrlKey) return;
          event.preventDefault();
          add();
        }}
      />
      <button type="button" className="btn" disabled={disabled || entry.trim() === ""} onClick={add}>
        <Plus aria-hidden="true" /> Add
      </button>
    </div>
  );
}

export const fieldsOfObjects = { ObjectField: RecordField };
