// The text filter of a page: its value is in the address.
import { useEffect, useRef, useState } from "react";
import { useSlash } from "./use-keys.ts";

/** Filters when the typing pauses; `/` focuses the input. */
export function SearchField({
  label,
  hint,
  className,
  value = "",
  onChange,
}: {
  readonly label: string;
  /** The short label in the field. */
  readonly hint: string;
  readonly className: string;
  readonly value: string | undefined;
  readonly onChange: (text: string) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  // The typed text stays when its filter comes back from the address, without the spaces at its ends.
  const sent = useRef(value);
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  useSlash(field);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the typed text starts the wait
  useEffect(() => {
    const filter = text.trim();
    if (filter === sent.current) return;
    const over = setTimeout(() => {
      sent.current = filter;
      onChange(filter);
    }, 250);
    return () => clearTimeout(over);
  }, [text]);
  return (
    <input
      ref={field}
      type="search"
      className={className}
      aria-label={label}
      placeholder={`${hint}  /`}
      maxLength={200}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}
