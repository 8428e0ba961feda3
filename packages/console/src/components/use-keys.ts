// Keys that work anywhere on a page.
import { type RefObject, useEffect } from "react";

/** Calls the function for each key; `field` is the input that has the focus. */
export function useKeys(onKey: (event: KeyboardEvent, field: Element | null) => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { target } = event;
      onKey(event, target instanceof HTMLElement ? target.closest("input, textarea, select") : null);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  });
}

/** The key `/` focuses the filter of a page. */
export function useSlash(filter: RefObject<HTMLInputElement | null>): void {
  useKeys((event, field) => {
    if (event.key !== "/" || field !== null) return;
    event.preventDefault();
    filter.current?.focus();
  });
}
