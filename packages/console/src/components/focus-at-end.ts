// Focuses a field as soon as it is in the page, so that no key is lost.

/** The `ref` of a field whose text is continued. */
export function focusAtEnd(field: HTMLInputElement | null): void {
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
}
