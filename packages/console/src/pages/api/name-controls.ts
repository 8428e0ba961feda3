// Accessible names for the controls of Swagger UI that have none.

const missing = [
  ["select.examples-select-element", "aria-label", "Example"],
  ["textarea.body-param__text", "aria-label", "Request body"],
  ["pre.microlight", "tabindex", "0"],
] as const;

/** Includes controls that are rendered later, until the returned function is called. */
export function nameControls(place: Element): () => void {
  const name = () => {
    for (const [selector, attribute, value] of missing)
      for (const control of place.querySelectorAll(`${selector}:not([${attribute}])`))
        control.setAttribute(attribute, value);
  };
  const observer = new MutationObserver(name);
  observer.observe(place, { childList: true, subtree: true });
  return () => observer.disconnect();
}
