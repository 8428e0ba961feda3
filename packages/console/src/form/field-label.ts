// The label of a field, on the page and for screen readers: its title, else its name as words.
import type { RJSFSchema } from "@rjsf/utils";
import { ADDITIONAL_PROPERTY_FLAG } from "@rjsf/utils";
import { labelOf } from "../format/labels.ts";

export function fieldLabel(schema: RJSFSchema, name: string): string {
  // The user chose the name of an entry of a record.
  return ADDITIONAL_PROPERTY_FLAG in schema ? name : (schema.title ?? labelOf(name));
}
