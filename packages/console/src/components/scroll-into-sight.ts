// Scrolls a box as far as one element in it needs. Unlike `scrollIntoView`, this leaves the place from which Tab continues.

export function scrollIntoSight(box: Element | null | undefined, element: Element | null | undefined): void {
  if (!box || !element) return;
  const outer = box.getBoundingClientRect();
  const inner = element.getBoundingClientRect();
  box.scrollLeft += distance(outer.left, outer.right, inner.left, inner.right);
  box.scrollTop += distance(outer.top, outer.bottom, inner.top, inner.bottom);
}

/** Pixels, as few as possible; an element that is longer than the box is shown from its beginning. */
function distance(start: number, end: number, from: number, to: number): number {
  return from < start || to - from > end - start ? from - start : Math.max(0, to - end);
}
