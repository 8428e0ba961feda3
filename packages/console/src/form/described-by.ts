// The ids of a control's hint and error, so that screen readers read both with the control.

export const hintId = (id: string): string => `${id}__hint`;
export const errorId = (id: string): string => `${id}__error`;

export function describedBy(
  id: string,
  description: string | undefined,
  errors: readonly string[] | undefined,
): string | undefined {
  const ids = [
    ...(description === undefined || description === "" ? [] : [hintId(id)]),
    ...(errors === undefined || errors.length === 0 ? [] : [errorId(id)]),
  ];
  return ids.length === 0 ? undefined : ids.join(" ");
}
