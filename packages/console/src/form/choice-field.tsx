// A union of objects in a form: a select for the branch, and the fields of the chosen branch.
import { getDefaultRegistry } from "@rjsf/core";
import type { FieldProps, RJSFSchema } from "@rjsf/utils";
import { useState } from "react";
import { asSchema } from "./as-schema.ts";
import { openChoice } from "./choices.ts";
import { errorId } from "./described-by.ts";
import { fieldLabel } from "./field-label.ts";
import { PickOne } from "./widgets.tsx";

const { AnyOfField } = getDefaultRegistry().fields;

function UnionField(props: FieldProps) {
  const [first]: readonly RJSFSchema[] = props.options;
  if (first?.title === openChoice) return <ChoiceField {...props} />;
  return AnyOfField === undefined ? null : <AnyOfField {...props} />;
}

function ChoiceField(props: FieldProps) {
  const { formData, registry, schema, fieldPathId, name, disabled, required, errorSchema, onChange } = props;
  const options: readonly RJSFSchema[] = props.options;
  const { SchemaField } = registry.fields;
  // 0 is the empty branch.
  const [chosen, setChosen] = useState(() =>
    formData === undefined ? 0 : registry.schemaUtils.getClosestMatchingOption(formData, [...options], 0),
  );
  const option = chosen > 0 ? options[chosen] : undefined;
  const { __errors: own = [], ...inside } = errorSchema ?? {};
  const id = `${fieldPathId.$id}__choice`;
  const choose = (index: unknown) => {
    const next = Number(index);
    setChosen(next);
    onChange(givenOf(options[next]), fieldPathId.path, undefined, id);
  };
  return (
    <div className="form-choice">
      <PickOne
        id={id}
        label={fieldLabel(schema, name)}
        required={required === true}
        choices={options.slice(1).map(({ title = "" }, index) => ({ label: title, value: index + 1 }))}
        value={chosen}
        disabled={disabled === true}
        described={own.length > 0 ? errorId(fieldPathId.$id) : undefined}
        canBeNone={required !== true}
        onChange={choose}
      />
      {option !== undefined && SchemaField !== undefined && (
        <SchemaField {...props} schema={{ ...option, title: "" }} errorSchema={inside} />
      )}
    </div>
  );
}

/** The initial value of a branch: its discriminator constants. */
function givenOf(option: RJSFSchema | undefined): unknown {
  if (option?.properties === undefined) return undefined;
  const given = Object.entries(option.properties).flatMap(([name, property]) => {
    const { const: word } = asSchema(property);
    return word === undefined ? [] : [[name, word] as const];
  });
  return Object.fromEntries(given);
}

export const fieldsOfUnions = { AnyOfField: UnionField, OneOfField: UnionField };
